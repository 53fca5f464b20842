import { configReply } from '../config-reply.ts';
import type { Handler } from '../context.ts';

export const updateConfig: Handler<'updateConfig'> = async ({ services, body }) =>
  configReply(await services.settings.change(body.settings));
