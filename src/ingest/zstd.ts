import { zstdDecompressSync } from 'node:zlib';

/**
 * Decompresses a zstd body (RFC 8878) with all its frames. Throws a RangeError if the body ends early, continues
 * with other data, or inflates to more than `maxOutputLength` bytes.
 *
 * Node's zstdDecompressSync silently stops after the first frame, and returns the available part of a
 * truncated frame. The frames are therefore measured by their headers, and decompressed one by one.
 */
export function inflateZstd(bytes: Buffer, maxOutputLength: number): Buffer {
  const parts: Buffer[] = [];
  let left = maxOutputLength;
  if (bytes.length === 0) throw new RangeError('no frame');
  for (let at = 0; at < bytes.length; ) {
    const end = frameEnd(bytes, at);
    if (!isSkippable(bytes.readUInt32LE(at))) {
      // Node does not accept a limit of 0. The extra byte is detected below.
      const part = zstdDecompressSync(bytes.subarray(at, end), {
        maxOutputLength: Math.max(left, 1),
        chunkSize: Math.min(16 * (end - at) + 1024, maxOutputLength + 1),
      });
      left -= part.length;
      if (left < 0) throw tooLarge();
      parts.push(part);
    }
    at = end;
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

/** Creates the error that zlib throws. */
function tooLarge(): Error {
  return Object.assign(new RangeError('output is too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
}

const magic = 0xfd2fb528;

/**
 * Returns whether a word begins a skippable frame (0x184D2A50 to 0x184D2A5F), whose content is ignored (RFC
 * 8878, 3.1.2).
 */
function isSkippable(word: number): boolean {
  return word >>> 4 === 0x184d2a5;
}

/** Returns the end of the frame that starts here. Reads past the end throw the RangeError. */
function frameEnd(bytes: Buffer, start: number): number {
  const word = bytes.readUInt32LE(start);
  if (isSkippable(word)) return within(bytes, start + 8 + bytes.readUInt32LE(start + 4));
  if (word !== magic) throw new RangeError('no frame');
  const descriptor = bytes.readUInt8(start + 4);
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >>> 6;
  const sizeBytes = sizeFlag === 0 ? (singleSegment ? 1 : 0) : 1 << sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  let at = start + 5 + (singleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (let last = false; !last; ) {
    const block = bytes.readUIntLE(at, 3);
    const repeated = ((block >>> 1) & 3) === 1;
    last = (block & 1) === 1;
    at += 3 + (repeated ? 1 : block >>> 3);
  }
  return within(bytes, at + ((descriptor & 4) !== 0 ? 4 : 0));
}

function within(bytes: Buffer, end: number): number {
  if (end > bytes.length) throw new RangeError('truncated');
  return end;
}
