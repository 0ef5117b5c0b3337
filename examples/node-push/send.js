// Sends messages to devices: put Web Push or FCM in its place.

/** Resolves when the messages are on their way. If it rejects, the whole change is done again later. */
export async function send(messages) {
  for (const { user, devices, title, text } of messages) {
    for (const device of devices) console.log(`to ${user}, ${device}: ${[title, text].filter(Boolean).join(": ")}`);
  }
}
