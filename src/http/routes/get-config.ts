import { configReply } from '../config-reply.ts';
import type { Handler } from '../context.ts';

export const getConfig: Handler<'getConfig'> = async ({ services }) =>
  configReply(await services.settings.read());
