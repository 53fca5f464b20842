import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';
import { currentStatus } from '../status.ts';

/** Names the one resource that there is (a nil UUID, RFC 9562, section 5.9). */
const id = '00000000-0000-0000-0000-000000000000';

export const getStatus: Handler<'getStatus'> = async ({ services }) =>
  resource('status', id, await currentStatus(services));
