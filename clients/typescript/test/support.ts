// A server of its own for each test, and servers in front of it or in its place.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { type ChangeFeed, type List, type Options, Tideline } from "../src/index.js";

/** The release binary. */
export const BINARY = process.env.TIDELINE_BINARY ?? "../../target/release/tideline";

/** A port below those of outgoing connections, one of which could have it while a server is away. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    const probe = net.createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => probe.close(resolve));
    if (isFree) return port;
  }
}

/** A server, which ends with the test. */
export class Server {
  readonly directory = mkdtempSync(join(tmpdir(), "tideline-client-"));
  #process: ChildProcess | undefined;
  port = 0;

  constructor(readonly settings: Record<string, string> = {}) {}

  /** A running server with settings such as `{"timeline.inbox_limit": "50"}`. */
  static async start(test: TestContext, settings: Record<string, string> = {}): Promise<Server> {
    const server = new Server(settings);
    test.after(async () => {
      await server.kill("SIGKILL");
      rmSync(server.directory, { recursive: true, force: true });
    });
    await server.serve();
    return server;
  }

  /** Starts the process, on the same port each time. */
  async serve(): Promise<void> {
    this.port ||= await freePort();
    const environment: Record<string, string> = { PATH: process.env.PATH ?? "" };
    for (const [name, value] of Object.entries(this.settings)) {
      environment[`TIDELINE__${name.replace(".", "__").toUpperCase()}`] = value;
    }
    const { data } = this;
    const child = spawn(BINARY, ["serve", "--data-dir", data, "--listen", `127.0.0.1:${this.port}`], {
      env: environment,
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#process = child;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("listening on ")) {
        child.stdout.resume();
        return;
      }
    }
    throw new Error("the server did not start");
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  get data(): string {
    return join(this.directory, "data");
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  client(options: Partial<Options> = {}): Tideline {
    return new Tideline({ url: this.url, ...options });
  }
}

/** A parameter of a call in the document. */
export type Parameter = { in: string; name: string; example?: string };

/** A use of the client, then the query and the body that it sends. */
export type Call = [
  use: (client: Tideline) => Promise<unknown> | List<unknown> | ChangeFeed,
  query: Record<string, string>,
  body?: unknown,
];

/** The OpenAPI document of the binary. */
export function document(): {
  info: { version: string };
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
} {
  return JSON.parse(execFileSync(BINARY, ["openapi"], { encoding: "utf8", maxBuffer: 2 ** 26 }));
}

/** A proxy that can cut its connections in the middle of an event, or stop passing bytes on. */
export class CuttingProxy {
  readonly #server: net.Server;
  readonly #open = new Set<net.Socket>();
  /** Bytes that the next connection passes to the client before it is cut. */
  cutAfter: () => number = () => Number.POSITIVE_INFINITY;
  /** Whether bytes of the server are kept back. */
  frozen = false;
  cuts = 0;
  connections = 0;

  private constructor(target: number) {
    this.#server = net.createServer((client) => {
      this.connections++;
      let left = this.cutAfter();
      const server = net.connect(target, "127.0.0.1");
      const end = () => {
        client.destroy();
        server.destroy();
        this.#open.delete(client);
      };
      this.#open.add(client);
      client.on("error", end).on("close", end).pipe(server);
      server.on("error", end).on("close", end);
      server.on("data", (bytes) => {
        if (this.frozen) return;
        if (bytes.length < left) {
          left -= bytes.length;
          client.write(bytes);
        } else {
          this.cuts++;
          client.write(bytes.subarray(0, left), end);
        }
      });
    });
    this.#server.listen(0, "127.0.0.1");
  }

  static async start(test: TestContext, target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    await new Promise((resolve) => proxy.#server.once("listening", resolve));
    test.after(() => proxy.stop());
    return proxy;
  }

  stop(): void {
    for (const socket of this.#open) socket.destroy();
    this.#server.close();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
}

/** What a stub answers: a status, headers and a body; `"drop"` closes the connection, `"hang"` never answers. */
export type Answer = { status: number; headers?: Record<string, string>; body?: unknown } | "drop" | "hang";

/** A server that gives prepared answers, the last one again and again, and keeps the requests. */
export class Stub {
  readonly requests: { method: string; path: string; body: string; headers: http.IncomingHttpHeaders; at: number }[] =
    [];
  readonly #server: http.Server;

  private constructor(answers: Answer[]) {
    this.#server = http.createServer((request, response) => {
      let body = "";
      request.on("data", (part) => {
        body += part;
      });
      request.on("end", () => {
        const { method = "", url: path = "", headers } = request;
        this.requests.push({ method, path, body, headers, at: Date.now() });
        const answer = answers[Math.min(this.requests.length, answers.length) - 1];
        assert(answer !== undefined);
        if (answer === "drop") request.socket.destroy();
        else if (answer !== "hang") {
          response.writeHead(answer.status, answer.headers);
          response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body ?? {}));
        }
      });
    });
  }

  static async start(test: TestContext, ...answers: Answer[]): Promise<Stub> {
    const stub = new Stub(answers);
    await new Promise<void>((resolve) => stub.#server.listen(0, "127.0.0.1", resolve));
    test.after(() => {
      stub.#server.closeAllConnections();
      stub.#server.close();
    });
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
}

/** A problem document as an answer. */
export function problem(status: number, code: string, retryAfter?: number): Answer {
  const headers: Record<string, string> = { "content-type": "application/problem+json", "x-request-id": "7" };
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  const body = { type: `urn:tideline:problem:${code}`, title: code, status, detail: "no", code };
  return { status, headers, body };
}

/** A user token (HS256) that ends after some seconds. */
export function userToken(secret: string, user: string, seconds: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: user, exp: Math.floor(Date.now() / 1000) + seconds };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** All entries of an iterable. */
export async function collect<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** Waits until something holds. */
export async function until(holds: () => boolean, what: string, seconds = 60): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !holds(); ) {
    assert(Date.now() < end, `${what} did not happen within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
