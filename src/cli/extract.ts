import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleProofs, VerifiedProofs } from '../client/bundle-proofs.ts';
import type { Bundle } from '../client/verify.ts';
import { CommandError } from '../service/exit-codes.ts';

/**
 * Writes the parts of a bundle as files for other tools, without overwriting existing files: `entry.json`
 * (the exact bytes of the leaf), `entry.tlog-proof`, and for each timestamp `<side>-<n>.checkpoint` with
 * `<side>-<n>.token` (DER). Returns the names of the files.
 */
export async function extract(
  folder: string,
  { leaf }: Bundle,
  proofs: BundleProofs,
  { notBefore, notAfter }: VerifiedProofs,
): Promise<string[]> {
  const claims = [
    ...notBefore.map((claim, i) => ({ name: `not-before-${i}`, ...claim })),
    ...notAfter.map((claim, i) => ({ name: `not-after-${i}`, ...claim })),
  ];
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    ['entry.json', leaf.canonical],
    ...(proofs.checkpoint === undefined ? [] : [['entry.tlog-proof', proofs.checkpoint.text] as const]),
    ...claims.flatMap(({ name, checkpoint, token }) => [
      [`${name}.checkpoint`, checkpoint] as const,
      [`${name}.token`, token] as const,
    ]),
  ];
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, bytes] of files) await writeFile(join(folder, name), bytes, { flag: 'wx' });
  } catch (error) {
    throw new CommandError(`--extract: ${(error as Error).message}; pass an empty, writable folder`);
  }
  return files.map(([name]) => name);
}
