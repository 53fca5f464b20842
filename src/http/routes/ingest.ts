import type { Handler } from '../context.ts';
import { takeBody } from '../take-body.ts';

export const ingest: Handler<'ingest'> = (context) => takeBody(context, context.query);
