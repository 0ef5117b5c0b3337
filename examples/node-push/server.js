// Starts the receiver, with the files that the environment names.

import { readFileSync } from "node:fs";
import { Tideline, WebhookReceiver } from "tideline-client";
import { Devices } from "./devices.js";
import { createHook } from "./hook.js";
import { messagesOf } from "./messages.js";
import { Place } from "./place.js";
import { send } from "./send.js";

const { PORT = "3001", TIDELINE_URL: url = "http://localhost:8080", TIDELINE_KEY: key } = process.env;
const { SECRET_FILE = "keys/push", DEVICES_FILE = "devices.json", PLACE_FILE = "data/place" } = process.env;

const tideline = new Tideline({ url, key, timeout: 10_000 });
const devices = new Devices(DEVICES_FILE);
// One secret in a line: the new one and the old one, while the secret is changed.
const receiver = new WebhookReceiver(readFileSync(SECRET_FILE, "utf8").trim().split(/\s+/));

const handle = async (change) => {
  for await (const messages of messagesOf(change, { tideline, devices })) await send(messages);
};

createHook({ receiver, handle, place: new Place(PLACE_FILE) }).listen(Number(PORT), "127.0.0.1", () => {
  console.log(`the hook listens on http://localhost:${PORT}/tideline`);
});
