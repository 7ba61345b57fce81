// The page and the viewer take turns, by the address. `render` and `staticModel` are of the module before this.

const page = [...document.querySelectorAll("body > main, body > footer")];
const place = document.getElementById("regard");
const wayBack = document.getElementById("way-back");
const styles = [...document.querySelectorAll("style.of-the-page")];
let read = 0; // how far down the page was read
let drawn = false;

function takeTurns() {
  const looks = /[#&]record=\d/.test(location.hash);
  if (looks === !place.hidden) return;
  if (looks) read = window.scrollY;
  for (const part of page) part.hidden = looks;
  for (const style of styles) style.media = looks ? "not all" : "all";
  document.getElementById("viewer-style").media = looks ? "all" : "not all";
  place.hidden = wayBack.hidden = !looks;
  if (looks && !drawn) {
    drawn = true;
    render({ model: staticModel(JSON.parse(document.getElementById("regard-data").textContent)), el: place });
  }
  window.scrollTo(0, looks ? 0 : read);
}

for (const link of document.querySelectorAll("a.open")) link.hidden = false;
window.addEventListener("hashchange", takeTurns);
takeTurns();
