import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import type { Hasher } from '../tlog/tree.ts';

/**
 * SHA-256 of @noble/hashes: runs in every browser, and is independent of the service's native implementation.
 */
export const sha256: Hasher = (bytes) => nobleSha256(bytes);
