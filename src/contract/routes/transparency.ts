import { Type } from 'typebox';
import { listed } from '../envelopes.ts';
import {
  consistencyQuery,
  entriesQuery,
  inclusionQuery,
  leafQuery,
  publicPageQuery,
  treeHeadQuery,
  treeHeadsQuery,
} from '../parameters.ts';
import { text, uuid } from '../resources/fields.ts';
import {
  ConsistencyProof,
  InclusionProof,
  JsonWebKey,
  JsonWebKeySet,
  Leaf,
  ProofBundle,
  SignedTreeHead,
  treeHeadId,
} from '../resources/transparency.ts';
import { bytes, closed, json, list, type Route } from './route.ts';

const entryReaders = ['auditor', 'analyst', 'admin'] as const;
/** The longest path of a tile has 37 characters. */
const tilePath = (description: string) => text(description, { minLength: 1, maxLength: 64 });
const tileParams = Type.Object(
  {
    tile: tilePath('<L>/<N> of a full tile, <L>/<N>.p/<W> of one of W columns; N in groups of three digits.'),
  },
  closed,
);
const bundleParams = Type.Object(
  { bundle: tilePath('<N> of a full bundle, <N>.p/<W> of one of W entries; N in groups of three digits.') },
  closed,
);

/** The log: heads, proofs, entries, tiles, keys. */
export const transparencyRoutes = {
  getTreeHead: {
    method: 'GET',
    path: '/api/transparency/sth',
    summary: 'Signed tree head',
    tag: 'transparency',
    access: 'public',
    query: treeHeadQuery,
    responses: { 200: json(SignedTreeHead) },
    errors: ['LOG_EMPTY', 'NOT_FOUND'],
  },
  getInclusionProof: {
    method: 'GET',
    path: '/api/transparency/inclusion',
    summary: 'Proof that a leaf is in a tree',
    tag: 'transparency',
    access: 'public',
    query: inclusionQuery,
    responses: { 200: json(InclusionProof) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getConsistencyProof: {
    method: 'GET',
    path: '/api/transparency/consistency',
    summary: 'Proof that a tree extends an earlier one',
    tag: 'transparency',
    access: 'public',
    query: consistencyQuery,
    responses: { 200: json(ConsistencyProof) },
  },
  getLeaf: {
    method: 'GET',
    path: '/api/transparency/leaf',
    summary: 'A log entry and its canonical bytes',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(Leaf) },
    errors: ['NOT_FOUND'],
  },
  listTreeHeads: {
    method: 'GET',
    path: '/api/transparency/sths',
    summary: 'The history of signed tree heads, oldest first',
    tag: 'transparency',
    access: 'public',
    query: treeHeadsQuery,
    responses: { 200: list(listed('tree_head', treeHeadId, SignedTreeHead)) },
  },
  listEntries: {
    method: 'GET',
    path: '/api/transparency/entries',
    summary: 'Log entries by leaf index and kind, oldest first; those of kinds key.… for everybody',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: entriesQuery,
    responses: { 200: list(listed('log_entry', uuid('Id of the entry.'), Leaf)) },
  },
  getProofBundle: {
    method: 'GET',
    path: '/api/transparency/proof',
    summary: 'A log entry with all that shows it to be in the log, to be verified offline',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(ProofBundle) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getCheckpoint: {
    method: 'GET',
    path: '/checkpoint',
    summary: 'The latest tree head as a signed note (C2SP tlog-checkpoint)',
    tag: 'transparency',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; charset=utf-8' } },
    errors: ['LOG_EMPTY'],
  },
  getTile: {
    method: 'GET',
    path: '/tile/:tile*',
    summary: 'Hashes of the tree (C2SP tlog-tiles)',
    tag: 'transparency',
    access: 'public',
    params: tileParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  getEntryBundle: {
    method: 'GET',
    path: '/tile/entries/:bundle*',
    summary: 'Canonical bytes of log entries (C2SP tlog-tiles)',
    tag: 'transparency',
    access: entryReaders,
    mayBePublic: true,
    params: bundleParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  listKeyHistory: {
    method: 'GET',
    path: '/api/transparency/key-history',
    summary: 'Log entries about keys (key.rotated, key.retired, key.revoked, log.life_started), oldest first',
    tag: 'transparency',
    access: 'public',
    query: publicPageQuery,
    responses: { 200: list(listed('log_entry', uuid('Id of the entry.'), Leaf)) },
  },
  listPublicKeys: {
    method: 'GET',
    path: '/api/transparency/keys',
    summary: 'Every public key ever used, oldest first',
    tag: 'transparency',
    access: 'public',
    query: publicPageQuery,
    responses: { 200: list(listed('public_key', uuid('kid of the key.'), JsonWebKey)) },
  },
  getKeySet: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    summary: 'The current public keys: active, pending, recently ended',
    tag: 'transparency',
    access: 'public',
    responses: { 200: json(JsonWebKeySet) },
  },
} as const satisfies Record<string, Route>;
