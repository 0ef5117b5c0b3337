// Makes the key of the backend, and the pair of keys of its user tokens, in the directory `keys`.

import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
mkdirSync("keys", { mode: 0o700 });
writeFileSync("keys/tideline", `backend-${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
writeFileSync("keys/private.pem", privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
writeFileSync("keys/public.pem", publicKey.export({ type: "spki", format: "pem" }));
