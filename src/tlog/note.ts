/**
 * C2SP signed-note: text signed by one or more keys.
 *
 *     example.com/log                                                      the text, with its last newline
 *     3
 *     CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
 *                                                                          the last empty line of the note
 *     — example.com/log Az3grlgt…                                          name, base64(u32be key id ‖ signature)
 *     — witness.example/w1 jWbPPwAA…
 *
 * A note has one spelling: parsing and formatting it yields the same text.
 */
import { base64ToBytes, toBase64 } from './base64.ts';
import { type Cosignature, cosignedMessage, decodeCosignature } from './cosignature.ts';
import { TlogError } from './fault.ts';
import type { Hasher } from './tree.ts';

/** Identifier bytes of the supported signature types, both made by Ed25519 keys. */
export const signatureTypes = { ed25519: 1, cosignature: 4 } as const;

/** Maximum UTF-16 units of a whole note: one million, as in Go's reader of tree notes. Real notes are under 100 kB. */
export const maxNoteLength = 1_000_000;

/**
 * Maximum signatures of a note, as in Go. The specification requires support for at least 16; each signature by a known
 * key costs a verification.
 */
export const maxNoteSignatures = 100;

export interface NoteSignature {
  readonly name: string;
  /** An unsigned 32-bit number. */
  readonly keyId: number;
  /** The bytes after the key id; at least one. */
  readonly signature: Uint8Array;
}

export interface Note {
  /** The text, including its final newline. */
  readonly text: string;
  /** Signatures in the order of the note, including repeated signatures and signatures by unknown keys. */
  readonly signatures: readonly NoteSignature[];
}

export interface VerifierKey {
  readonly name: string;
  readonly keyId: number;
  readonly type: number;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** Verifies an Ed25519 signature with a raw public key of 32 bytes. Wrong lengths are invalid, not errors. */
export type Ed25519Verifier = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

const emDash = '—';
const publicKeyBytes = 32;

/**
 * Parses a note without verifying it. Its text must have been decoded from UTF-8 without replacing or skipping
 * characters (a TextDecoder with `fatal` and `ignoreBOM`). Faults: bad_note, bad_key_name, bad_base64.
 */
export function parseNote(note: string): Note {
  if (note.length > maxNoteLength) throw new TlogError('bad_note', `the note is too long: ${note.length} characters`);
  const split = note.lastIndexOf('\n\n');
  if (split < 0) throw new TlogError('bad_note', 'there is no empty line between text and signatures');
  const text = note.slice(0, split + 1);
  checkNoteText(text);
  const lines = note.slice(split + 2).split('\n');
  if (lines.pop() !== '' || lines.length === 0) {
    throw new TlogError('bad_note', 'the note does not end with a signature line and a newline');
  }
  checkSignatureCount(lines.length);
  return { text, signatures: lines.map(parseSignature) };
}

/**
 * Formats a note; the inverse of `parseNote`. Rejects notes that `parseNote` would reject. Faults: bad_note,
 * bad_key_name, bad_key_id.
 */
export function formatNote(note: Note): string {
  checkNoteText(note.text);
  checkSignatureCount(note.signatures.length);
  const whole = `${note.text}\n${note.signatures.map(formatSignature).join('')}`;
  if (whole.length > maxNoteLength) throw new TlogError('bad_note', `the note is too long: ${whole.length} characters`);
  return whole;
}

/**
 * Checks the text of a note: it must end in a newline, contain no other ASCII control character, and be
 * well-formed, so that it has one form in UTF-8. Fault: bad_note.
 */
export function checkNoteText(text: string): void {
  if (!text.endsWith('\n')) throw new TlogError('bad_note', 'the text does not end in a newline');
  if (hasControl(text)) throw new TlogError('bad_note', 'the text has a control character');
  if (!text.isWellFormed()) throw new TlogError('bad_note', 'the text has a lone surrogate');
}

/**
 * Returns the first four bytes of SHA-256(name ‖ newline ‖ type ‖ public key) as a big-endian number. Faults:
 * bad_key_name, bad_key_type, bad_verifier_key.
 */
export function noteKeyId(sha256: Hasher, name: string, type: number, publicKey: Uint8Array): number {
  checkName(name);
  const line = new TextEncoder().encode(`${name}\n`);
  const key = typedKey(type, publicKey);
  const input = new Uint8Array(line.length + key.length);
  input.set(line);
  input.set(key, line.length);
  const hash = sha256(input);
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0);
}

export function verifierKey(sha256: Hasher, name: string, type: number, publicKey: Uint8Array): VerifierKey {
  return { name, keyId: noteKeyId(sha256, name, type, publicKey), type, publicKey };
}

/** Formats `name+hex id+base64(type ‖ public key)`, with the id in eight lowercase digits. */
export function formatVerifierKey(key: VerifierKey): string {
  checkName(key.name);
  checkKeyId(key.keyId);
  const id = key.keyId.toString(16).padStart(8, '0');
  return `${key.name}+${id}+${toBase64(typedKey(key.type, key.publicKey))}`;
}

/**
 * Parses a verifier key. Faults: bad_verifier_key, bad_key_name, bad_base64, bad_key_type; bad_key_id if the
 * id does not match.
 */
export function parseVerifierKey(sha256: Hasher, text: string): VerifierKey {
  const parts = text.length > maxNoteLength ? null : /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(text);
  if (parts === null) throw new TlogError('bad_verifier_key', 'it does not have the form name+id+key');
  const [, name = '', id = '', base64 = ''] = parts;
  const bytes = base64ToBytes(base64, 'the key of a verifier key');
  const key = verifierKey(sha256, name, bytes[0] ?? 0, bytes.slice(1));
  if (key.keyId !== Number.parseInt(id, 16)) {
    throw new TlogError('bad_key_id', `${id} is not the id of this key under this name`);
  }
  return key;
}

/**
 * Returns the verified signature of `key`; undefined without a signature. All signatures that name the key, by name and
 * id, must be valid (otherwise bad_note_signature), and the first is returned. A cosignature is verified over its own
 * message, including its time (see `decodeCosignature`).
 */
export function noteSignatureBy(note: Note, key: VerifierKey, verify: Ed25519Verifier): NoteSignature | undefined {
  const own = note.signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId);
  for (const { signature } of own) {
    if (!verifies(note.text, key, signature, verify)) {
      throw new TlogError('bad_note_signature', `the signature of ${key.name} is not valid`);
    }
  }
  return own[0];
}

function verifies(text: string, key: VerifierKey, bytes: Uint8Array, verify: Ed25519Verifier): boolean {
  switch (key.type) {
    case signatureTypes.ed25519:
      return verify(key.publicKey, new TextEncoder().encode(text), bytes);
    case signatureTypes.cosignature: {
      const cosigned = cosignatureOf(bytes);
      if (cosigned === undefined) return false;
      return verify(key.publicKey, cosignedMessage(cosigned.timeS, text), cosigned.signature);
    }
    default:
      throw unknownType(key.type);
  }
}

function cosignatureOf(bytes: Uint8Array): Cosignature | undefined {
  try {
    return decodeCosignature(bytes);
  } catch {
    return undefined; // wrong length or impossible time, so it is not a signature of this key
  }
}

function parseSignature(line: string): NoteSignature {
  const [dash, name = '', base64, more] = line.split(' ', 4);
  if (dash !== emDash || base64 === undefined || more !== undefined) {
    throw new TlogError('bad_note', 'a signature line must have a dash, a name and a signature');
  }
  checkName(name);
  const bytes = base64ToBytes(base64, 'a signature');
  if (bytes.length < 5) {
    throw new TlogError('bad_note', `a signature has ${bytes.length} bytes; at least 5 are required`);
  }
  return { name, keyId: new DataView(bytes.buffer).getUint32(0), signature: bytes.slice(4) };
}

function formatSignature({ name, keyId, signature }: NoteSignature): string {
  checkName(name);
  checkKeyId(keyId);
  if (signature.length === 0) throw new TlogError('bad_note', 'a signature is empty');
  const bytes = new Uint8Array(4 + signature.length);
  new DataView(bytes.buffer).setUint32(0, keyId);
  bytes.set(signature, 4);
  return `${emDash} ${name} ${toBase64(bytes)}\n`;
}

function typedKey(type: number, publicKey: Uint8Array): Uint8Array {
  if (type !== signatureTypes.ed25519 && type !== signatureTypes.cosignature) throw unknownType(type);
  if (publicKey.length !== publicKeyBytes) {
    throw new TlogError('bad_verifier_key', `the public key has ${publicKey.length} bytes, not 32`);
  }
  return Uint8Array.of(type, ...publicKey);
}

/** Checks a key name. White space is defined as in Unicode: `\s` lacks U+0085 and includes U+FEFF. */
function checkName(name: string): void {
  if (name === '' || /[\p{White_Space}+]/u.test(name) || hasControl(name) || !name.isWellFormed()) {
    throw new TlogError('bad_key_name', 'the key name is empty or has a space, plus or control character');
  }
}

function checkKeyId(keyId: number): void {
  if (!Number.isInteger(keyId) || keyId < 0 || keyId >= 2 ** 32) {
    throw new TlogError('bad_key_id', `key id ${keyId} is not an unsigned 32-bit number`);
  }
}

function checkSignatureCount(count: number): void {
  if (count === 0 || count > maxNoteSignatures) {
    throw new TlogError('bad_note', `the note has ${count} signatures; 1 to ${maxNoteSignatures} are allowed`);
  }
}

/** Returns whether the text has ASCII control characters other than the newline. */
function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 && code !== 0x0a) return true;
  }
  return false;
}

function unknownType(type: number): TlogError {
  return new TlogError('bad_key_type', `signature type ${type} is neither 1 nor 4`);
}
