import { randomBytes } from 'node:crypto';
import { hash, type Options, verify } from '@node-rs/argon2';
import { invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';

/**
 * OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one lane. Checking one takes some 20 ms of a
 * core, in the thread pool of libuv.
 */
const parameters = {
  algorithm: 2, // Algorithm.Argon2id, an ambient const enum
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const satisfies Options;

let inFlight = 0;
let nobodysHash: Promise<string> | undefined;

/** The PHC string of a password. Unicode spellings of one text are one password (NFC, as RFC 8265 wants). */
export function hashPassword(password: string): Promise<string> {
  return limited(() => hash(password.normalize('NFC'), parameters));
}

/**
 * What a new password must be beside long enough, which the contract sees to (NIST SP 800-63B, section 3.1.1.2).
 *
 * @throws INVALID_REQUEST that names `field`.
 */
export function requireNewPassword(field: string, password: string, name: string): void {
  // What isn't Unicode becomes the same replacement character in the hash: other passwords would do as well.
  if (!password.isWellFormed()) throw invalidField(field, 'must be well-formed Unicode');
  if (password.toLowerCase() === name.toLowerCase()) throw invalidField(field, 'must not be the name');
}

/**
 * Whether the password is right. Without a hash (nobody has that name, or no password) the same work is done for
 * nothing, so that time doesn't tell who exists.
 *
 * @throws OVERLOADED when too many are being checked.
 */
export function verifyPassword(known: string | undefined, password: string): Promise<boolean> {
  return limited(async () => {
    const right = await verify(known ?? (await hashOfNobody()), password.normalize('NFC'));
    return right && known !== undefined;
  });
}

function hashOfNobody(): Promise<string> {
  nobodysHash ??= hash(randomBytes(32), parameters);
  return nobodysHash;
}

async function limited<T>(work: () => Promise<T>): Promise<T> {
  if (inFlight >= limits.maxPasswordChecksInFlight)
    throw new ServiceError('OVERLOADED', `${inFlight} passwords are being checked`);
  inFlight++;
  try {
    return await work();
  } finally {
    inFlight--;
  }
}
