import type { Static } from './common.ts';
import { anyObject, flag, shape } from './fields.ts';

export const Config = shape('Config', {
  active: anyObject('Settings in effect, without secrets.'),
  pending: anyObject('Settings stored for the next start, where they differ.'),
  restart_required: flag('True where pending is not empty.'),
});
export type Config = Static<typeof Config>;
