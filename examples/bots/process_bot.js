// A bot in another language, asked over standard input and output:
//
//     python evaluate.py tournament "process:node examples/bots/process_bot.js" danish random
//
// Every line is one JSON object. It needs Node.js and nothing else.

const readline = require("node:readline");

let rules = {};

function points(card) {
  return card[0] === "A" ? 11 : Math.min("23456789TJQKA".indexOf(card[0]) + 2, 10);
}

function best(cards) {
  const suits = {};
  for (const card of cards) suits[card[1]] = (suits[card[1]] || 0) + points(card);
  return Math.max(0, ...Object.values(suits));
}

function choose(view) {
  const legal = view.legal;
  if (legal.includes("knock") && view.value >= 25) return "knock";
  if (view.phase === "turn") {
    const better = view.upcard && best([...view.hand, view.upcard]) > best(view.hand);
    return better && legal.includes("take_upcard") ? "take_upcard" : legal[0];
  }
  if (view.phase === "discard") {
    const left = (name) => best(view.hand.filter((card) => "discard " + card !== name));
    return legal.reduce((one, other) => (left(other) > left(one) ? other : one));
  }
  return legal[0];
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") console.log(JSON.stringify({ name: "node bot" }));
  if (message.type === "rules") rules = message.rules;
  if (message.type === "act") {
    console.log(JSON.stringify({ id: message.id, action: choose(message.view) }));
  }
});
