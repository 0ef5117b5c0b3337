// User tokens for Tideline.

import { SignJWT } from "jose";

/** A token with which a user reads and acts in Tideline, for so many seconds. */
export function userToken(privateKey, user, seconds) {
  return new SignJWT()
    .setProtectedHeader({ alg: "EdDSA" })
    .setSubject(user)
    .setExpirationTime(new Date(Date.now() + seconds * 1000))
    .sign(privateKey);
}
