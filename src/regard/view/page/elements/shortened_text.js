// Texts that are cut where there is no room for them.

/** At most so many characters; what is cut ends in “…”, after a whole word where one is near. @param {string} text @param {number} most */
export function shortened(text, most) {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const cut = characters.slice(0, most - 1).join("");
  const blank = cut.search(/\s+\S*$/);
  return `${blank > cut.length / 2 ? cut.slice(0, blank) : cut}…`;
}
