// A guess of how long something takes, as regard/clock.py words it.

import { t } from "./messages.js";

const [SHORT, LONG] = [90, 600]; // seconds that are told as such, minutes of hours that are told

/** 4 s, 14 min, 3 h 7 min @param {number} seconds */
export function roughTime(seconds) {
  if (seconds < SHORT) return t("{n} s", { n: Math.max(Math.round(seconds), 1) });
  const minutes = Math.round(seconds / 60);
  if (minutes < SHORT) return t("{n} min", { n: minutes });
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (minutes < LONG && rest) return t("{hours} h {minutes} min", { hours, minutes: rest });
  return t("{n} h", { n: Math.round(minutes / 60) });
}
