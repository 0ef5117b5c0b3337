// Starts the backend with the keys in the directory `keys`.

import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { Tideline } from "tideline-client";
import { createBackend } from "./backend.js";
import { Database } from "./database.js";

const { PORT = "3000", TIDELINE_URL: address = "http://localhost:8080" } = process.env;
const tideline = new Tideline({
  url: address,
  key: readFileSync("keys/tideline", "utf8").trim(),
  timeout: 5000,
  retries: 2,
});
const privateKey = createPrivateKey(readFileSync("keys/private.pem"));

createBackend({ database: new Database(), tideline, address, privateKey }).listen(Number(PORT), "127.0.0.1", () => {
  console.log(`the backend listens on http://localhost:${PORT}`);
});
