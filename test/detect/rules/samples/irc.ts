import { type Samples, server, zeek } from '../records.ts';

export default {
  'IRC to the Internet': {
    matches: [[zeek('irc', { nick: 'bot', command: 'JOIN', value: '#x' })]],
    spares: [[zeek('irc', { nick: 'bot', command: 'JOIN', 'id.resp_h': server })], [zeek('irc', { command: 'USER' })]],
  },
} satisfies Samples;
