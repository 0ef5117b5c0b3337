// The kinds of reactions of this server, in the order of its settings. A name may be that of a property of all objects.

import { isolated, t } from "./texts.js";

export const KINDS = JSON.parse(document.querySelector('meta[name="tideline-reactions"]').content);

// Kinds with an icon and with words of their own; any other is shown by its name.
const icons = new Map([["like", "heart"], ["favorite", "star"]]);

export const iconOf = (kind) => icons.get(kind);

export const number = (counts, kind) => (Object.hasOwn(counts.reactions, kind) ? counts.reactions[kind] : 0);

export const label = (kind, n) => (icons.has(kind) ? t(kind, { n }) : t("reactions", { n, name: isolated(kind) }));
export const verb = (kind) => (icons.has(kind) ? t(`${kind}_verb`) : kind);
export const title = (kind) => (icons.has(kind) ? t(`tab_${kind}`) : kind);
export const since = (kind) => t(icons.has(kind) ? `since_${kind}` : "since_reaction");
