// Texts in the language of the reader. Each language has one file; a test compares their keys.

import { kept } from "./box.js";
import en from "./texts/en.js";
import zh from "./texts/zh.js";

const languages = { en, zh };
export const names = { en: "English", zh: "中文" };

// The language that was chosen; null for that of the browser.
export const chosen = kept("tideline.language", null);

const ofBrowser = () => (navigator.languages ?? ["en"]).map((tag) => tag.slice(0, 2)).find((tag) => languages[tag]);

export const language = () => (languages[chosen.value] ? chosen.value : (ofBrowser() ?? "en"));

// The tag with which numbers and times are written.
export const locale = () => (language() === "zh" ? "zh-CN" : "en");

// Making a format takes far longer than using it, and a list uses each many times.
const formats = new Map();
function format(Kind, options) {
  const key = `${Kind.name} ${locale()} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new Kind(locale(), options));
  return formats.get(key);
}

// A text. `{name}` in it is replaced; a text with several forms takes the one for the number `n`.
export function t(key, values = {}) {
  const text = languages[language()][key];
  const form = typeof text === "string" ? text : text[format(Intl.PluralRules).select(values.n)] ?? text.other;
  return form.replace(/\{(\w+)\}/g, (_, name) => (name === "n" ? number(values.n) : values[name]));
}

// Whether there is such a text.
export const has = (key) => key in en;

// Sentences one after another.
export const sentences = (...texts) => texts.filter(Boolean).join(language() === "zh" ? "" : " ");

// Letters that turn the text around them, as U+202E does, or are not seen at all.
export const HIDDEN = /([\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+)/u;

// The codes of letters, such as "U+202E".
export const codes = (text) => [...text].map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");

// A text with its hidden letters as their codes, for places without marks.
export const seen = (text) => text.split(HIDDEN).map((part, i) => (i % 2 ? `⟨${codes(part)}⟩` : part)).join("");

// A name whose letters cannot change the direction of the text around it.
const TURNING = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
export const isolated = (name) => (TURNING.test(name) ? `\u2068${seen(name)}\u2069` : seen(name));

// A long id without its middle.
export const middle = (id) => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

export const percent = (n) => format(Intl.NumberFormat, { style: "percent", maximumFractionDigits: 0 }).format(n);

export const number = (n) => format(Intl.NumberFormat).format(n);

export const short = (n) =>
  format(Intl.NumberFormat, { notation: "compact", maximumSignificantDigits: 3 }).format(n);

// So many in each second.
export const rate = (n) => t("per_second", { value: n < 10 ? number(Math.round(n * 10) / 10) : short(Math.round(n)) });

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  // A unit has at most three digits: 1022 KiB are 1 MiB.
  const unit = n > 0 ? Math.min(Math.max(Math.ceil(Math.log(n / 999.5) / Math.log(1024)), 0), units.length - 1) : 0;
  const value = n / 1024 ** unit;
  return `${format(Intl.NumberFormat, { maximumFractionDigits: value < 10 && unit ? 1 : 0 }).format(value)} ${units[unit]}`;
}

export function seconds(n) {
  const digits = (value) => format(Intl.NumberFormat, { maximumSignificantDigits: 3 }).format(value);
  if (n < 0.001) return `${digits(n * 1e6)} µs`;
  return n < 1 ? `${digits(n * 1000)} ms` : `${digits(n)} s`;
}

const STEPS = [["second", 60], ["minute", 60], ["hour", 24], ["day", 7], ["week", 4.35], ["month", 12], ["year", Infinity]];

// Such as "3 minutes ago".
export function ago(time, now = Date.now()) {
  let distance = (time - now) / 1000;
  if (Math.abs(distance) < 10) return t("just_now");
  for (const [unit, size] of STEPS) {
    if (Math.abs(distance) < size) {
      return format(Intl.RelativeTimeFormat, { numeric: "auto", style: "short" }).format(Math.round(distance), unit);
    }
    distance /= size;
  }
  return "";
}

// The time of day, with the date if it is that of another day.
export function clock(time, now = Date.now()) {
  const date = new Date(time).toDateString() === new Date(now).toDateString() ? {} : { month: "short", day: "numeric" };
  return format(Intl.DateTimeFormat, { ...date, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(time);
}

export const fullTime = (time) =>
  format(Intl.DateTimeFormat, { dateStyle: "medium", timeStyle: "medium" }).format(time);
