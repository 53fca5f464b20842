import type { otlpRoutes } from '../../contract/routes/otlp.ts';
import type { Handlers } from '../context.ts';
import { withHeader } from '../reply.ts';
import { otlpAnswer } from '../shippers/otlp-answer.ts';
import { encoded, encodingOf, mediaTypes } from '../shippers/otlp-encoding.ts';
import { storeBody } from '../store-body.ts';

export const otlpHandlers = {
  async otlpLogs(context) {
    const { head, query, body, identity } = context;
    const encoding = encodingOf(head);
    const framing = { name: `otlp_${encoding}`, sender: identity.principal.id } as const;
    const { length } = body.arrived;
    const { answer, receipt } = await storeBody(context, { ...query, framing });
    const { accepted, rejected, ignored, duplicates } = answer;
    const nothing = accepted + rejected + ignored + duplicates === 0;
    // Names that are misspelt, as in snake_case, are to be ignored: nobody would ever know.
    const warning =
      nothing && encoding === 'json' && length > 2 ? 'the request holds no log records to store' : '';
    const reply = {
      kind: 'bare',
      status: 200,
      mediaType: mediaTypes[encoding],
      body: encoded(otlpAnswer(answer, warning), encoding),
    } as const;
    return withHeader(reply, receipt);
  },
} satisfies Handlers<typeof otlpRoutes>;
