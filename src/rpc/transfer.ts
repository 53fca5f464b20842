import { isMarkedAsUntransferable } from 'node:worker_threads';

/**
 * Maximum depth of the search for buffers; deeper containers are cloned without a search. Real messages are
 * nested at most 4 deep.
 */
const MAX_DEPTH = 6;
/**
 * Maximum objects and arrays searched per message; all others are cloned without a search. This also bounds the
 * search in cyclic values.
 */
const MAX_CONTAINERS = 65_536;
/**
 * Number of plain values at the beginning of an array after which all later items are assumed to be plain
 * values and are not searched.
 */
const SAMPLE = 64;
/** Approximate memory of an object, array, number, …; the length of a string and the bytes of a buffer are added. */
const PLAIN_BYTES = 16;

/** A value ready to be posted. */
export interface Packed {
  readonly value: unknown;
  /** Every ArrayBuffer to be moved, without duplicates. */
  readonly transfer: ArrayBuffer[];
  /** Size of the message: exact for buffers, an estimate for plain data. */
  readonly bytes: number;
}

/**
 * Finds the buffers in a message, so that they are moved and not copied.
 *
 * An ArrayBuffer, or a view that covers its ArrayBuffer exactly, is moved: the sender's buffer is detached. A
 * view of a part (a pooled Buffer, a subarray) is replaced by a copy of that part in a separate buffer, which
 * is moved; the original ArrayBuffer stays with the sender. An ArrayBuffer that is marked as untransferable is
 * copied too. SharedArrayBuffers stay shared. Buffers are found in arrays and plain objects, within the limits above;
 * the sender's objects are not changed.
 */
export function pack(value: unknown): Packed {
  const walk = new Walk();
  const packed = walk.visit(value, 0);
  return { value: packed, transfer: [...walk.buffers], bytes: walk.bytes };
}

class Walk {
  readonly buffers = new Set<ArrayBuffer>();
  bytes = 0;
  #containers = 0;

  /** Returns the value, or a copy in which buffers and views that cannot be moved are replaced. */
  visit(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) {
      this.bytes += typeof value === 'string' ? value.length + PLAIN_BYTES : PLAIN_BYTES;
      return value;
    }
    if (value instanceof ArrayBuffer) return this.#buffer(value);
    if (ArrayBuffer.isView(value)) return this.#view(value);
    this.bytes += PLAIN_BYTES;
    if (depth >= MAX_DEPTH || this.#containers >= MAX_CONTAINERS) return value;
    if (Array.isArray(value)) return this.#array(value, depth);
    return isPlain(value) ? this.#object(value, depth) : value;
  }

  #buffer(buffer: ArrayBuffer): ArrayBuffer {
    if (isMarkedAsUntransferable(buffer)) return this.#buffer(buffer.slice());
    if (this.buffers.has(buffer)) return buffer;
    this.buffers.add(buffer);
    this.bytes += buffer.byteLength;
    return buffer;
  }

  #view(view: ArrayBufferView): ArrayBufferView {
    const { buffer, byteOffset, byteLength } = view;
    if (!(buffer instanceof ArrayBuffer)) return view;
    if (byteLength === buffer.byteLength && !isMarkedAsUntransferable(buffer)) {
      this.#buffer(buffer);
      return view;
    }
    return viewLike(view, this.#buffer(buffer.slice(byteOffset, byteOffset + byteLength)));
  }

  #array(array: readonly unknown[], depth: number): readonly unknown[] {
    this.#containers++;
    if (array.length > SAMPLE && array.slice(0, SAMPLE).every(isPlainValue)) {
      const before = this.bytes;
      for (const item of array.slice(0, SAMPLE)) this.visit(item, depth + 1);
      this.bytes = before + ((this.bytes - before) / SAMPLE) * array.length;
      return array;
    }
    let copy: unknown[] | undefined;
    for (let i = 0; i < array.length; i++) {
      const item = array[i];
      const packed = this.visit(item, depth + 1);
      if (packed === item) continue;
      copy ??= [...array];
      copy[i] = packed;
    }
    return copy ?? array;
  }

  #object(object: Readonly<Record<string, unknown>>, depth: number): Readonly<Record<string, unknown>> {
    this.#containers++;
    let copy: Record<string, unknown> | undefined;
    for (const key of Object.keys(object)) {
      const item = object[key];
      const packed = this.visit(item, depth + 1);
      if (packed === item) continue;
      copy ??= { ...object };
      copy[key] = packed;
    }
    return copy ?? object;
  }
}

function isPlainValue(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

type ViewConstructor = new (buffer: ArrayBuffer) => ArrayBufferView;

function viewLike(view: ArrayBufferView, buffer: ArrayBuffer): ArrayBufferView {
  if (Buffer.isBuffer(view)) return new Uint8Array(buffer);
  return new (view.constructor as ViewConstructor)(buffer);
}
