import { limits } from '../limits.ts';

// uWebSockets.js reads this variable once, when it is loaded. Its default is 4 kB, too little for long
// filters.
process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(limits.maxHeaderBytes);
