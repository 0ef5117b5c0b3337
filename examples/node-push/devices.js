// Who has push on, and on which devices, in a file such as { "ana": ["ana's phone"] }: put your database in its place.

import { readFileSync } from "node:fs";

export class Devices {
  #devices;

  constructor(file) {
    this.#devices = new Map(Object.entries(JSON.parse(readFileSync(file, "utf8"))));
  }

  /** The devices of those of these users who have push on, by their ids: one query of a database. */
  async of(users) {
    return new Map(users.filter((user) => this.#devices.has(user)).map((user) => [user, this.#devices.get(user)]));
  }
}
