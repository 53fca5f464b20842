import { randomBytes } from 'node:crypto';
import { hash, type Options, verify } from '@node-rs/argon2';
import { invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';

/**
 * Parameters from the OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one lane. A check
 * takes about 20 ms of CPU time in the thread pool of libuv.
 */
const parameters = {
  algorithm: 2, // Algorithm.Argon2id: an ambient const enum has no value at run time
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const satisfies Options;

let inFlight = 0;
let decoyHash: Promise<string> | undefined;

/**
 * Returns the PHC string of a password. Equivalent Unicode spellings are the same password (NFC, as required
 * by RFC 8265).
 */
export function hashPassword(password: string): Promise<string> {
  return limited(() => hash(password.normalize('NFC'), parameters));
}

/**
 * Throws unless a new password is acceptable (NIST SP 800-63B, section 3.1.1.2). The contract checks its
 * length.
 *
 * @throws INVALID_REQUEST that names `field`
 */
export function requireNewPassword(field: string, password: string, name: string): void {
  // Ill-formed Unicode would be hashed with the replacement character, so that other passwords would match
  // too.
  if (!password.isWellFormed()) throw invalidField(field, 'must be well-formed Unicode');
  if (password.toLowerCase() === name.toLowerCase()) throw invalidField(field, 'must not be the username');
}

/**
 * Returns whether a password is right. Without a hash (unknown name, or principal without a password), the
 * same amount of work is done, so that the response time does not reveal which names exist.
 *
 * @throws OVERLOADED if too many checks are in progress
 */
export function verifyPassword(known: string | undefined, password: string): Promise<boolean> {
  return limited(async () => {
    const right = await verify(known ?? (await makeDecoyHash()), password.normalize('NFC'));
    return right && known !== undefined;
  });
}

function makeDecoyHash(): Promise<string> {
  decoyHash ??= hash(randomBytes(32), parameters);
  return decoyHash;
}

async function limited<T>(work: () => Promise<T>): Promise<T> {
  if (inFlight >= limits.maxPasswordChecksInFlight)
    throw new ServiceError('OVERLOADED', `too many password checks in progress (${inFlight})`);
  inFlight++;
  try {
    return await work();
  } finally {
    inFlight--;
  }
}
