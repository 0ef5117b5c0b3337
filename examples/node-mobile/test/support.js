// A Tideline server and a backend of their own for each test.

import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Tideline } from "tideline-client";
import { App } from "../app.js";
import { createBackend } from "../backend.js";
import { Database } from "../database.js";

const KEY = "a-key-of-the-tests-with-32-characters";
const BINARY = process.env.TIDELINE_BINARY ?? "../../target/release/tideline";

/** A port below those of outgoing connections, one of which could have it while a server is away. */
async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(() => true, () => false);
    await new Promise((resolve) => probe.close(resolve));
    if (isFree) return port;
  }
}

/** The release binary with an empty data directory. It keeps its port over restarts. */
class Server {
  directory = mkdtempSync(join(tmpdir(), "tideline-mobile-"));
  port = 0;
  #process;

  constructor(publicKey) {
    const settings = {
      AUTH__KEYS: KEY,
      AUTH__JWT_PUBLIC_KEYS: publicKey,
      AUTH__USERS_READ: "visible",
      AUTH__LEEWAY: "0s",
      PRESENCE__HEARTBEAT: "200ms",
      LOG__LEVEL: "error",
    };
    this.environment = { PATH: process.env.PATH };
    for (const [name, value] of Object.entries(settings)) this.environment[`TIDELINE__${name}`] = value;
  }

  async start() {
    this.port ||= await freePort();
    const options = ["serve", "--data-dir", join(this.directory, "data"), "--listen", `127.0.0.1:${this.port}`];
    this.#process = spawn(BINARY, options, { env: this.environment, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: this.#process.stdout })) {
      if (line.startsWith("listening on ")) return;
    }
    throw new Error("Tideline did not start");
  }

  async kill() {
    const ended = once(this.#process, "exit");
    if (this.#process.exitCode === null && this.#process.signalCode === null && this.#process.kill("SIGKILL"))
      await ended;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }
}

/** A backend whose user tokens live so long, in front of a Tideline of its own; both end with the test. */
export async function start(test, { tokenSeconds = 300 } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const server = new Server(publicKey.export({ format: "jwk" }).x);
  test.after(async () => {
    await server.kill();
    rmSync(server.directory, { recursive: true });
  });
  await server.start();
  const tideline = new Tideline({ url: server.url, key: KEY, timeout: 20_000, retries: 1, maxRetryDelay: 200 });
  const database = new Database();
  const backend = createBackend({ database, tideline, address: server.url, privateKey, tokenSeconds });
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  let tokens = 0;
  backend.on("request", (request) => {
    if (request.url === "/token") tokens++;
  });
  test.after(() => {
    backend.closeAllConnections();
    backend.close();
  });
  const url = `http://127.0.0.1:${backend.address().port}`;
  const user = async (name) => {
    const app = new App(url);
    await app.signUp(name, `the password of ${name}`);
    return app;
  };
  return { server, tideline, database, privateKey, publicKey, url, user, tokens: () => tokens };
}

/** Waits until something holds. */
export async function until(holds, what, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`${what} did not happen within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
