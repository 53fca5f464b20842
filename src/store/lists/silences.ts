import type { Silence } from '../../contract/resources/silence.ts';
import { ruleSources, silenceStates } from '../../contract/vocabulary.ts';
import { anyCase, members, oneOf, someOf, text } from './filter.ts';
import type { ListSpec } from './list.ts';
import { timeOrder } from './order.ts';

/** `from` and `to` bound `created_at`. */
export const silenceList: ListSpec<Silence> = {
  type: 'silence',
  terms: {
    state: oneOf(silenceStates, (silence) => silence.state),
    owner: text((silence) => silence.owner),
    rule_id: members((silence) => silence.matcher.rule_id),
    rule_source: someOf(ruleSources, (silence) => silence.matcher.rule_source),
    category: members((silence) => silence.matcher.category),
    domain: anyCase(members((silence) => silence.matcher.domain)),
    asset_id: members((silence) => silence.matcher.asset_id),
  },
  sorts: {
    created_at: (silence) => timeOrder(silence.created_at),
    expires_at: (silence) => timeOrder(silence.expires_at),
    updated_at: (silence) => timeOrder(silence.updated_at),
    owner: (silence) => silence.owner,
  },
  time: (silence) => silence.created_at,
  names: ({ reason, owner, matcher }) => [
    reason,
    owner,
    ...(matcher.rule_id ?? []),
    ...(matcher.category ?? []),
    ...(matcher.src_ip ?? []),
    ...(matcher.dst_ip ?? []),
    ...(matcher.ip ?? []),
    ...(matcher.domain ?? []),
  ],
};
