import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getRule: Handler<'getRule'> = ({ services, params }) => {
  const { id, rule } = services.rules.get(params.rule_id);
  return resource('rule', id, rule);
};
