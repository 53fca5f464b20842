import { type Static, type TSchema, Type } from 'typebox';
import { type ErrorCode, errorCodes } from '../errors.ts';
import { type ResourceType, resourceTypes } from './resource-types.ts';
import { oneOf } from './resources/common.ts';
import {
  count,
  flag,
  list,
  optional,
  ordinal,
  part,
  shape,
  text,
  timestamp,
  uuid,
} from './resources/fields.ts';

export const Meta = shape('Meta', {
  timestamp: timestamp('Time of the answer.'),
  query_time_ms: count('How long the query took, in milliseconds.'),
  damaged_events: optional(
    list(
      part(
        {
          events: count('How many.'),
          from: optional(timestamp('Time of the first; absent where it is damaged, too.')),
          to: optional(timestamp('Time of the last; absent where it is damaged, too.')),
        },
        'Events of one damaged block.',
      ),
      'Stored events that are damaged, may belong to the answer, and are left out of it. Absent without any.',
    ),
  ),
  damaged_rows: optional(
    count(
      'Stored rows of alerts, assets and other tables that are damaged, may belong to the answer, and are left out of it; at most 100 are counted. Absent without any.',
    ),
  ),
});
export type Meta = Static<typeof Meta>;

export const Pagination = shape('Pagination', {
  page: ordinal('This page; the first is 1.'),
  per_page: ordinal('Items on a full page.'),
  total: count('All items that match, exactly.'),
  total_pages: count('Pages of them.'),
  has_next: flag('Whether a page follows.'),
  has_prev: flag('Whether a page precedes.'),
  next_cursor: optional(text('Continue here with ?cursor=; absent on the last page.')),
});
export type Pagination = Static<typeof Pagination>;

/** A resource as it stands in an envelope; `attributes` default to the schema of its type. */
const resource = <T extends ResourceType, A extends TSchema>(type: T, attributes: A) =>
  item(type, uuid('Identifier of the resource.'), attributes);

/** A component of OpenAPI where its attributes are one. */
const item = <T extends string, I extends TSchema, A extends TSchema>(type: T, id: I, attributes: A) => {
  const { title } = attributes as { title?: string };
  return Type.Object(
    { id, type: Type.Literal(type, { description: 'Kind of resource.' }), attributes },
    {
      ...(title === undefined ? {} : { title: `${title}Resource` }),
      description: `A resource of type ${type}.`,
      additionalProperties: false,
    },
  );
};

/** One resource, in the specification's success envelope. */
export const success = <T extends ResourceType>(type: T) => successWith(type, resourceTypes[type]);

/** One resource that shows other attributes than its type has elsewhere. */
export const successWith = <T extends ResourceType, A extends TSchema>(type: T, attributes: A) =>
  part({ data: resource(type, attributes), meta: Meta }, 'Success envelope.');

/** A page of resources, in the specification's paginated envelope. */
export const paginated = <T extends ResourceType>(type: T) =>
  part(
    {
      data: list(resource(type, resourceTypes[type]), 'The items of the page.'),
      pagination: Pagination,
      meta: Meta,
    },
    'Paginated envelope.',
  );

/** A page of things that only lists have, under `id`s of their own. */
export const listed = <T extends string, I extends TSchema, A extends TSchema>(
  type: T,
  id: I,
  attributes: A,
) =>
  part(
    {
      data: list(item(type, id, attributes), 'The items of the page.'),
      pagination: Pagination,
      meta: Meta,
    },
    'Paginated envelope.',
  );

/** An answer that is no resource, beside its `meta`. */
export const answer = <S extends TSchema>(data: S) => part({ data, meta: Meta }, 'Envelope of an answer.');

export const ErrorEnvelope = shape('Error', {
  error: part(
    {
      code: oneOf(Object.keys(errorCodes) as ErrorCode[], { description: 'For machines.' }),
      message: text('For people.'),
      details: optional(
        Type.Object(
          {
            field: optional(
              text('The parameter, header or field of the body; always there with INVALID_REQUEST.'),
            ),
            reason: text('What is wrong with it, or the message.'),
          },
          {
            description: 'What helps to act; some codes add members of their own.',
            additionalProperties: true,
          },
        ),
      ),
    },
    'What went wrong.',
  ),
  timestamp: timestamp('Time of the answer.'),
});
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
