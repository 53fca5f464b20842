interface Resource {
  readonly id: string;
  readonly type: string;
  readonly attributes: object;
}

const encoder = new TextEncoder();

/** Resources as the bytes of `data` in a list envelope: an array of their own buffer, ready to move. */
export function jsonPage(resources: readonly Resource[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(resources));
}
