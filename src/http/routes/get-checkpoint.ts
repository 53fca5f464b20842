import { routes } from '../../contract/routes.ts';
import type { Handler } from '../context.ts';
import { logView } from '../log-view.ts';

const { mediaType } = routes.getCheckpoint.responses[200];

export const getCheckpoint: Handler<'getCheckpoint'> = async (context) => {
  await logView(context); // a checkpoint is of a published head for everybody, and counts as a read
  return {
    kind: 'bare',
    status: 200,
    mediaType,
    body: await context.services.checkpoint(),
    headers: [['Cache-Control', 'no-cache']],
  };
};
