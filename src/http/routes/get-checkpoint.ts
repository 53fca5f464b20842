import { routes } from '../../contract/routes.ts';
import type { Handler } from '../context.ts';

const { mediaType } = routes.getCheckpoint.responses[200];

export const getCheckpoint: Handler<'getCheckpoint'> = async ({ services }) => ({
  kind: 'bare',
  status: 200,
  mediaType,
  body: await services.checkpoint(),
  headers: [['Cache-Control', 'no-cache']],
});
