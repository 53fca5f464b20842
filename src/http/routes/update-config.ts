import { configReply } from '../config-reply.ts';
import type { Handler } from '../context.ts';

export const updateConfig: Handler<'updateConfig'> = async ({ services, body, audited }) => {
  let isStored = false;
  const config = await services.settings.change(body.settings, () => {
    isStored = true;
  });
  if (!isStored) audited?.noteNoChange();
  return configReply(config);
};
