// The position of the last change that was done, in a file: put a row of your database in its place.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export class Place {
  #file;

  constructor(file) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    this.position = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  }

  /** The file has the old position or the new one, wherever the process ends. */
  keep(position) {
    writeFileSync(`${this.#file}.new`, position);
    renameSync(`${this.#file}.new`, this.#file);
    this.position = position;
  }
}
