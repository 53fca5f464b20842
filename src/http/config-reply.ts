import type { Config } from '../contract/resources/config.ts';
import { type Reply, resource } from './reply.ts';

/** Names the one resource that there is (a nil UUID, RFC 9562, section 5.9). */
const id = '00000000-0000-0000-0000-000000000000';

export const configReply = (config: Config): Reply => resource('config', id, config);
