import { routes } from '../contract/routes.ts';
import { invalidField } from '../errors.ts';
import { TlogError } from '../tlog/fault.ts';
import type { Reply } from './reply.ts';

const { mediaType } = routes.getTile.responses[200];

/**
 * A tile of one width never changes, whether it is full or not. What not everybody may see is kept by the client's own
 * cache only.
 */
export const tileReply = (body: Uint8Array, isPublic: boolean): Reply => ({
  kind: 'bare',
  status: 200,
  mediaType,
  body,
  headers: [['Cache-Control', `${isPublic ? 'public' : 'private'}, max-age=31536000, immutable`]],
});

/** The address that a path has. INVALID_REQUEST naming the parameter for anything but the one spelling of one. */
export function addressIn<T>(parameter: string, path: string, parse: (path: string) => T): T {
  try {
    return parse(path);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw invalidField(parameter, 'must be the path of a tile as C2SP tlog-tiles writes it');
  }
}
