const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text, with nothing replaced or skipped; undefined where the bytes are no UTF-8. */
export function strictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
