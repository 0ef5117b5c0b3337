// Light or dark: as the system has it, or as chosen.

import { kept } from "./box.js";

export const themes = ["auto", "light", "dark"];
export const theme = kept("tideline.theme", "auto");

const apply = () => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
};
theme.listen(apply);
apply();
