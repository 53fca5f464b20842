import type { Config } from '../contract/resources/config.ts';
import { onlyId } from '../contract/singleton.ts';
import { type Reply, resource } from './reply.ts';

export const configReply = (config: Config): Reply => resource('config', onlyId, config);
