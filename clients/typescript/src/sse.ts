import { AnswerError } from "./errors.js";

/** A block of a text/event-stream. */
export interface Block {
  event: string;
  data: string;
  /** `undefined` if the block has no `id:`. */
  id: string | undefined;
}

// The server sends items, which are smaller. A block without an end must not fill the memory.
const LONGEST = 16 * 2 ** 20;

/** Takes the text of a stream apart. A comment is a block without an event. A block that was cut off is not given. */
export class BlockReader {
  #rest = "";
  #block: Block = empty();
  #size = 0;

  /** Takes the next piece of text; returns the blocks that it completes. */
  push(text: string): Block[] {
    const blocks: Block[] = [];
    // A carriage return at the end may be half of a line's end.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") this.#take(line);
      else {
        if (this.#size > 0) blocks.push(this.#block);
        this.#block = empty();
        this.#size = 0;
      }
    }
    if (this.#size + this.#rest.length > LONGEST) throw new AnswerError(`an event above ${LONGEST} characters`);
    return blocks;
  }

  #take(line: string): void {
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") this.#block.event = value;
    else if (field === "data") this.#block.data += (this.#block.data && "\n") + value;
    else if (field === "id" && !value.includes("\0")) this.#block.id = value;
    this.#size += line.length;
  }
}

function empty(): Block {
  return { event: "", data: "", id: undefined };
}
