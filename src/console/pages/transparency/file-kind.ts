import { looksLikeArchive } from '../../../client/archive.ts';
import { looksLikeEvidence } from '../../../client/evidence.ts';
import { members, parseExact } from '../../../client/exact-json.ts';
import { looksLikeEventProof } from '../../../client/verifier.ts';

/**
 * The kinds of files that can be verified. Files of an unknown kind are parsed as a bundle, whose errors are then
 * shown.
 */
export type FileKind = 'bundle' | 'event' | 'evidence' | 'pin' | 'checkpoint' | 'archive' | 'keys';

/** Maximum file size in bytes. A bundle with the keys of a hundred years has 10 MB. */
export const maxFileBytes = 32 * 2 ** 20;

export function kindOf(text: string): FileKind {
  if (looksLikeArchive(text.slice(0, text.indexOf('\n') + 1 || undefined))) return 'archive';
  if (text.includes('\n\n\u2014 ')) return 'checkpoint';
  if (looksLikeEvidence(text)) return 'evidence';
  if (looksLikeEventProof(text)) return 'event';
  const fields = members(parseExact(text));
  if (fields?.version !== undefined && fields.pinned_at !== undefined) return 'pin';
  if (fields !== undefined && Array.isArray(fields.keys) && Object.keys(fields).length === 1) return 'keys';
  return 'bundle';
}
