for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const text = head.classList.contains("text");
    const key = (row) => row.cells[column].dataset.value;
    const number = (value) => (value === "" ? -Infinity : Number(value));
    const order = (a, b) => (text ? key(b).localeCompare(key(a), "en", { numeric: true })
      : number(key(b)) - number(key(a)));
    const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? order(a, b) : order(b, a)));
    table.tBodies[0].append(...rows);
  }));
}
