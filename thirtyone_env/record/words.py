"""Records in words, for people."""

from __future__ import annotations

from thirtyone_env.record.recorder import Json


def _event_text(event: Json) -> str:
    word = str(event["action"]).replace("_", " ")
    if event["seat"] is None:
        return f"    — {word}: {' '.join(event['cards'])}"
    return f"    seat {event['seat']}  {word} {event.get('card', '')}".rstrip()


def describe_round(row: Json, index: int) -> str:
    """A recorded round in words."""
    lines = [f"Round {index}{' (decider)' if row['decider'] else ''}, dealer: seat {row['dealer']}"]
    lines += [f"  seat {seat}: {' '.join(row['hands'][seat])}" for seat in row["in_play"]]
    if row["upcard"]:
        lines.append(f"  upcard: {row['upcard']}")
    if row["table"]:
        lines.append(f"  table: {' '.join(row['table'])}")
    lines += [_event_text(event) for event in row["events"]]
    if row["end"]:
        lines.append(f"  end: {row['end'].replace('_', ' ')}")
        for seat in row["in_play"]:
            loss = f", loses {row['losses'][seat]}" if row["losses"][seat] else ""
            hand = " ".join(row["final_hands"][seat])
            lines.append(f"    seat {seat}: {hand} = {row['values'][seat]}{loss}")
    if row["lives"] is not None:
        lines.append(f"  lives: {' '.join(map(str, row['lives']))}")
        if row["eliminated"]:
            lines.append(f"  eliminated: {' '.join(f'seat {s}' for s in row['eliminated'])}")
    return "\n".join(lines)


def describe(record: Json) -> str:
    """A record in words."""
    name = record["preset"] or "house rules"
    lines = [
        f"{name}, {record['num_players']} players, seed {record['seed']}, deal {record['deal']}"
    ]
    lines += [f"  seat {s}: {p or 'a person'}" for s, p in enumerate(record["policies"])]
    lines += [describe_round(row, index) for index, row in enumerate(record["rounds"])]
    if record.get("unfinished"):
        lines.append("The match is not finished.")
    elif record["winner"] is None:
        lines.append("The match ended without a winner.")
    else:
        lines.append(f"Seat {record['winner']} wins.")
    if record["returns"]:
        lines.append(f"Payoffs: {' '.join(f'{r:g}' for r in record['returns'])}")
    return "\n".join(lines)
