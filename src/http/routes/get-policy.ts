import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getPolicy: Handler<'getPolicy'> = ({ services: { policy } }) =>
  resource('policy', policy.id, policy.current);
