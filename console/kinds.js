// The kinds of reactions of this server, in the order of its settings.

import { isolated, t } from "./texts.js";

export const KINDS = JSON.parse(document.querySelector('meta[name="tideline-reactions"]').content);

// Kinds with an icon and with words of their own; any other is shown by its name.
export const icons = { like: "heart", favorite: "star" };

const named = (kind, key, other) => (Object.hasOwn(icons, kind) ? t(key) : other);

export const count = (kind, n) => (Object.hasOwn(icons, kind) ? t(kind, { n }) : t("reactions", { n, name: isolated(kind) }));
export const verb = (kind) => named(kind, `${kind}_verb`, kind);
export const title = (kind) => named(kind, `tab_${kind}`, kind);
export const since = (kind) => named(kind, `since_${kind}`, t("since_reaction"));
