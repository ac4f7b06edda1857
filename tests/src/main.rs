//! Every guarantee of the library, one file each, that tries to break it. This is the table of contents.
//!
//! A test whose name begins with an id (`s04_…`) stands for a check of the specification.

mod fixture;
mod probes;

/// The specification's two code examples, word for word.
mod spec_examples;
/// Every field, variant and default that the specification names.
mod spec_types;
/// What the project is for.
mod mission;
/// Names, duplicates and aliases of tools.
mod names;
/// Which tools a model is shown.
mod selection;
/// What a model may choose, and what it never sees.
mod schemas;
/// Two hundred signatures, and a model that forges what they hide.
mod signatures;
/// Types of one's own: the schema and what is read are the same values.
mod own_types;
/// What a type refuses by code of its own is refused before its tool starts.
mod own_rules;
/// One secret, sent through everything that could show it.
mod secrets;
/// The enforced subset of JSON Schema.
mod validation;
/// Every shape that schemars emits, in canonical form.
mod schemars_shapes;
/// What a type writes validates, and what validates is read.
mod round_trip;
/// Real declarations and calls: BFCL.
mod bfcl;
/// What each provider accepts as a schema, and what is lost on the way.
mod dialects;
/// What the keywords of JSON Schema mean, by its own test suite.
mod json_schema_suite;
/// Schemas from outside that mean harm: refused, or enforced within bounds.
mod hostile_schemas;
/// Another reader of the same schemas gives the same verdicts.
mod schema_agreement;
/// A number that a type cannot hold never reaches a body.
mod number_widths;
/// A number that is called valid is the number that the body gets, however it is spelt.
mod spellings;
/// How a tool is shown to a model.
mod formats;
/// The ten steps of a call, in order.
mod lifecycle;
/// A call that cannot run is never run.
mod fail_closed;
/// Calls of tools that do not exist.
mod unknown_tools;
/// The one door from text to arguments.
mod one_door;
/// Arguments that are no JSON, or break the schema.
mod invalid_arguments;
/// Repair of arguments: each step, and what is never done.
mod repair;
/// Malformed arguments from the field: none that is unsafe to run is run.
mod malformed_arguments;
/// What models get wrong in arguments, from their text to the answer.
mod arguments;
/// What a model is told of arguments that are refused.
mod refusals;
/// Twenty-six situations that a run must survive.
mod situations;
/// One result for each call, whatever happens.
mod one_result;
/// Faults at every step, and a run dropped at every await.
mod faults;
/// Which calls may run at once: order, permits and their bounds.
mod permits;
/// Asking a person whether a call may run.
mod approval;
/// When a call is made again, and how often.
mod retries;
/// What a run may use, and what happens when it has.
mod limits;
/// Random turns do what their calls would do one by one.
mod serial_oracle;
/// What runs beside what, in which order, and how much at once.
mod concurrency;
/// Runs within runs: what bounds them, what they see, and how they end.
mod sub_agents;
/// No interleaving of calls deadlocks or breaks a bound: a model check.
mod executor_model;
/// Bodies: their threads, their time, and their end.
mod bodies;
/// Spans: what a trace shows of runs and calls, on whatever thread they run.
mod spans;
/// Transcripts: what providers accept, and what others wrote made whole.
mod history;
/// Steering a run from outside: cancel, queue, stream.
mod steering;
/// What a tool gets from the run.
mod runtime_values;
/// What users of other tool macros ran into.
mod macro_cases;
/// What a tool gives back.
mod results;
/// What the executor writes into a result, whatever the tool wrote.
mod stamped;
/// A result has something to read, whatever the tool gave back.
mod never_empty;
/// The same run gives the same bytes.
mod repeatable;
/// The layout of the project.
mod project;
/// Whatever an OpenAI-compatible server sends: a whole reply or a clear error.
mod provider_openai;
/// What is sent is accepted by the provider it is sent to: ids, names, order.
mod provider_ids;
/// What providers would be shown, and that they are shown it.
mod explain;
/// The quickstart example, as a user runs it.
mod quickstart;
/// Against a real server.
mod live;
