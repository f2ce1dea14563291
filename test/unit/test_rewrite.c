/* Every rewriting, alone and after those before it, keeps the outputs and does what it is for: random weights, the same
 * graph run on the device before and after. */
#include "device/device.h"
#include "graph/op.h"
#include "reader/load.h"
#include "rewrite/rewrite.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, PORTS = 2 };

struct rewriting {
	const char *name;
	const char *model;
	const char *nodes; /* the operators after it */
};

#define CONV "in x ? 6 9 8\nconst w 8 6 3 3\nnode Conv x w > c pads:I=1,1,1,1\n"
#define SAME "in x ? 8 9 8\nconst w 8 8 3 3\nnode Conv x w > c pads:I=1,1,1,1\n"
#define ERF                                                                                                            \
	"in x ? 6\nfloats q 1.4142135\nfloats o 1\nfloats h 0.5\nnode Div x q > b\nnode Erf b > c\nnode Add o c > d\n"
#define CUBE      "in x ? 6\nfloats o 1\nfloats h 0.5\nfloats k 0.044715\nfloats s 0.7978845608\nnode Pow x t > p\n"
#define SIX       "in x ? 6\nfloats l 0\nfloats h 6\nfloats t 3\nnode Add x t > a\nnode Clip a l h > c\n"
#define CENTRED   "in x ? 4 6\nnode ReduceMean x > m axes:I=-1\nnode Sub x m > d\nfloats t 2\n"
#define DEVIATION "node ReduceMean e > v axes:I=2\nfloats q 0.01\nnode Add v q > s\nnode Sqrt s > r\n"
#define SCALED    "node Div d r > z\nconst g 6\nnode Mul z g > b\nconst k 6\nnode Add b k > y\nout y"
#define PICTURE   "in x ? 6 9 8\n"
#define WINDOW    "const w 8 6 3 3\nnode Conv a w > y "
#define NHWC      "in x ? 3 4 5\nnode Transpose x > c perm:I=0,2,3,1\n"
#define NCHW      "node Transpose f > y perm:I=0,3,1,2\nout y"
#define SHUFFLE(parted, order, whole)                                                                                  \
	"ints s " parted "\nnode Reshape x s > a\nnode Transpose a > b perm:I=" order "\nints t " whole                \
	"\nnode Reshape b t > y\n"
#define NORM "positive s 8\nconst b 8\nconst m 8\npositive v 8\n"

static const struct rewriting rewritings[] = {
	{"same",
		"in x ? 6\nconst w 3 2 4\nints s 6 4\nnode Reshape w s > r\nnode Flatten r > f\nnode MatMul x f > "
		"y\nout y",
		"MatMul"},
	{"same", "in x ? 6\nnode Identity x > a\nnode Relu a > b\nnode Dropout b > c\nnode Identity c > y\nout y",
		"Relu"},
	{"same", "in x ? 6\nnode Relu x > a\nnode Identity a > y\nnode Add a a > z\nout y\nout z", "Relu Add"},
	{"same", "in x ? 6\nnode Relu x > y\nnode Identity y > z\nout y\nout z", "Relu Identity"},
	{"same", "in x ? 6\nnode Identity x > y\nout y", "Identity"},
	{"same", "in x ? 6\nnode Split x > a b axis:i=1\nnode Relu a > z\nnode Identity b > y\nout y\nout z",
		"Split Relu"}, /* not the first output */
	{"same", "in x ? 6\nnode Cast x > a to:i=1\nnode Sum a > b\nnode Concat b > c axis:i=1\nnode Relu c > y\nout y",
		"Relu"},
	{"same", "in x ? 6\nints s 1 6\nnode Expand x s > a\nints t 0 -1\nnode Reshape a t > b\nnode Relu b > y\nout y",
		"Relu"},
	{"same", "in x ? 1 6\nints s 1 4 6\nnode Expand x s > a\nnode Relu a > y\nout y", "Expand Relu"},
	{"same",
		"in x ? 3 3\nnode Transpose x > a perm:I=0,1,2\nnode Transpose a > b perm:I=0,2,1\nnode Relu b > "
		"y\nout y",
		"Transpose Relu"},
	{"transposes",
		"in x ? 3 4 5\nnode Transpose x > a perm:I=0,2,3,1\nnode Transpose a > b perm:I=0,3,1,2\n"
		"node Relu b > y\nout y",
		"Transpose Relu"},
	{"same again",
		"in x ? 3 4 5\nnode Transpose x > a perm:I=0,2,3,1\nnode Transpose a > b perm:I=0,3,1,2\n"
		"node Relu b > y\nout y",
		"Relu"},
	{"transposes",
		"in x ? 3 4 5\nnode Transpose x > a perm:I=0,2,3,1\nnode Transpose a > y perm:I=0,2,3,1\nout y\nout a",
		"Transpose Transpose"},
	{"same again", NHWC "node Relu c > d\nnode Add k d > e\nconst k 3\nnode Mul e h > f\nfloats h 0.5\n" NCHW,
		"Relu Add Mul"},
	{"same again", NHWC "node Sub c k > d\nconst k 5 1\nnode Mul d l > f\nconst l 1 4 5 3\n" NCHW, "Sub Mul"},
	{"same again", NHWC "node Relu x > z\nnode Transpose z > d perm:I=0,2,3,1\nnode Add d c > f\n" NCHW,
		"Relu Add"},
	{"same again",
		"in x ? 3 4 4\nnode Transpose x > c perm:I=0,2,3,1\nnode Transpose x > d perm:I=0,3,2,1\nnode Add d c "
		"> f\n" NCHW,
		"Transpose Transpose Add Transpose"},
	{"same again", NHWC "node Relu c > f\nnode Exp c > g\nout g\n" NCHW, "Transpose Relu Exp Transpose"},
	{"same again", NHWC "node Relu c > f\nout f\n" NCHW, "Transpose Relu Transpose"},
	{"same again", NHWC "node Add c c > f\n" NCHW, "Transpose Add Transpose"},
	{"same again", NHWC "node Softmax c > f axis:i=1\n" NCHW, "Transpose Softmax Transpose"},
	{"shapes",
		"in x ? 12\nints s 0 3 1 4\nnode Reshape x s > a\nnode Squeeze a k > b\nints k 2\nnode Unsqueeze b l > "
		"c\n"
		"ints l 1\nnode Flatten c > d axis:i=3\nnode Exp d > e\nints t -1 12\nnode Reshape e t > y\nout y",
		"Reshape Exp Reshape"},
	{"same again",
		"in x ? 12\nints s 0 3 4\nnode Reshape x s > a\nnode Flatten a > b\nnode Relu b > y\nnode Exp a > "
		"z\nout y\n"
		"out z",
		"Reshape Relu Exp"},
	{"same again",
		"in x ? 12 1 1\nnode Transpose x > a perm:I=0,2,3,1\nnode Flatten a > b\nconst w 12 2\nnode MatMul b w "
		"> y\n"
		"out y",
		"Reshape MatMul"},
	{"shapes", "in x ? 1 12\nnode Transpose x > a perm:I=0,2,1\nnode Softmax a > y axis:i=1\nout y",
		"Reshape Softmax"},
	{"shapes", "in x ? 2 1 3\nnode Transpose x > a perm:I=0,3,2,1\nnode Softmax a > y axis:i=1\nout y",
		"Transpose Softmax"},
	{"shuffles", "in x ? 6 3 4\n" SHUFFLE("0 3 2 3 4", "0,2,1,3,4", "0 6 3 4") "node Relu y > z\nout z",
		"Gather Relu"},
	{"shuffles", "in x ? 6 5\n" SHUFFLE("0 2 3 5", "0,2,1,3", "0 6 5") "out y", "Gather"},
	{"shuffles", "in x ? 6 3 4\n" SHUFFLE("0 3 2 3 4", "0,2,1,3,4", "0 6 3 4") "out y\nout b",
		"Reshape Transpose Gather"},
	/* Pixels move too; the channels are not those of before; rows of a matrix are no images. */
	{"shuffles", "in x ? 6 3 4\n" SHUFFLE("0 3 2 3 4", "0,2,1,4,3", "0 6 3 4") "out y",
		"Reshape Transpose Reshape"},
	{"shuffles", "in x ? 6 3 4\n" SHUFFLE("0 3 2 3 4", "0,2,1,3,4", "0 3 6 4") "out y",
		"Reshape Transpose Reshape"},
	{"shuffles", "in x ? 6 4 3\n" SHUFFLE("0 6 2 2 3", "0,2,1,3,4", "0 6 4 3") "out y",
		"Reshape Transpose Reshape"},
	{"shuffles", "in x ? 6\n" SHUFFLE("0 3 2", "0,2,1", "0 6") "out y", "Reshape Transpose Reshape"},
	{"weights", CONV NORM "node BatchNormalization c s b m v > y epsilon:f=0.01\nout y", "Conv"},
	{"weights",
		"in x ? 6 9 8\nconst w 8 3 3 3\nconst k 8\nnode Conv x w k > c group:i=2\n" NORM
		"node BatchNormalization c s b m v > y\nout y",
		"Conv"},
	{"weights", CONV NORM "node BatchNormalization c s b m v > y\nnode Relu c > z\nout y\nout z",
		"Conv BatchNormalization Relu"}, /* what is taken twice stays */
	{"weights", CONV NORM "node BatchNormalization c s b m v > y\nout y\nout c", "Conv BatchNormalization"},
	{"products", "in x ? 6\nconst w 6 4\nnode MatMul x w > y\nout y", "Gemm"},
	{"products", "in x ? 2 6\nconst w 6 4\nnode MatMul x w > y\nout y", "MatMul"},
	/* Channels that fill up a block must not become NaN, which the next LRN would see. */
	{"weights",
		"in x ? 3 5 4\npositive s 3\nconst b 3\nconst m 3\npositive v 3\nconst k 3 1 1\n"
		"node LRN x > l size:i=3\nnode BatchNormalization l s b m v > n\nnode Mul n k > p\n"
		"node LRN p > y size:i=3\nout y",
		"LRN BatchNormalization LRN"},
	/* oneDNN has none of this rank. */
	{"weights", "in x ? 3 2 2 2 2\nconst k 3 1 1 1 1\nconst b 3 1 1 1 1\nnode Mul x k > m\nnode Add m b > y\nout y",
		"BatchNormalization"},
	/* Weights that float32 does not hold are left alone. */
	{"weights",
		"in x ? 4\nfloats l -1e-30\nfloats h 1e-30\nnode Clip x l h > a\nfloats k 1e20 1e20 1e20 1e20\n"
		"node Mul a k > b\nfloats f 1e20 2e20 1e20 3e20\nints d 4 1\nnode Reshape f d > w\nnode MatMul b w > "
		"y\nout y",
		"Clip Mul Gemm"},
	{"sums", "in x ? 6\nconst k 6\nnode Sum x k > s\nnode Sum s x > y\nout y", "Add Add"},
	{"sums", "in x ? 6\nconst k 6\nnode Sum x k x > y\nout y", "Sum"},
	{"addend", CONV "const u 8 6 1 1\nnode Conv x u > d\nnode Sum c d > y\nout y", "Conv Conv"},
	{"weights", CONV "const b 8 1 1\nnode Add c b > y\nout y", "Conv"},
	{"weights", CONV "const b 1 8 1 1\nnode Add b c > y\nout y", "Conv"},
	{"weights", CONV "const b 8\nnode Add c b > y\nout y", "Conv Add"}, /* along the last axis */
	{"weights", "in x ? 6\nconst w 6 4\nconst b 4\nnode MatMul x w > m\nnode Add m b > y\nout y", "Gemm"},
	{"weights",
		"in x ? 6\nconst w 6 4\nconst c 1 4\nconst b 4\nnode Gemm x w c > m alpha:f=0.5\nnode Add m b > y\nout "
		"y",
		"Gemm"},
	{"weights",
		"in x ? 6\nconst w 6 4\nconst c 4\nconst b 4\nnode Gemm x w c > m beta:f=0.5\nnode Add m b > y\nout y",
		"Gemm"},
	{"weights",
		"in x ? 6\nconst w 4 6\nconst c 1 4\nconst b 1 4\nnode Gemm x w c > m alpha:f=2 beta:f=0.5 transB:i=1\n"
		"node Mul m b > y\nout y",
		"Gemm"},
	{"weights",
		"in x ? 6\nconst u 6 4\nnode MatMul x u > c\nconst w 6 4\nconst b 4\nnode Gemm x w c > m\nnode Mul m b "
		"> y\nout y",
		"Gemm Gemm Mul"},
	{"weights", CONV "const b 8 1 1\nnode Mul c b > y\nout y", "Conv"},
	{"weights", CONV "positive b 1 8 1 1\nnode Div c b > y\nout y", "Conv"},
	{"weights", CONV "const b 8 1 1\nnode Sub c b > d\nfloats k 0.5\nnode Sub k d > e\nnode Mul e k > y\nout y",
		"Conv"},
	{"weights", CONV "const b 8 1 1\nnode Div b c > y\nout y", "Conv Div"},
	{"weights", CONV "const b 8 1 1\nnode Mul c b > y\nout y\nout c", "Conv Mul"},
	{"weights", CONV "const b 1 9 1\nnode Mul c b > y\nout y", "Conv Mul"},
	{"weights", "in x ? 6 9 8\nconst w 1 6 3 3\nnode Conv x w > c\nconst b 8 1 1\nnode Mul c b > y\nout y",
		"Conv Mul"},
	{"weights",
		"in x ? 6 9 8\nconst w 6 4 3 3\nnode ConvTranspose x w > c group:i=2\n" NORM
		"node BatchNormalization c s b m v > y\nout y",
		"ConvTranspose"},
	{"weights",
		"in x ? 2 6\nconst w 6 4\nconst b 4\nnode MatMul x w > m\nnode Add m b > n\nnode Mul n b > y\nout y",
		"MatMul"},
	{"clamp", "in x ? 2 6\nconst w 6 4\nconst b 4\nnode MatMul x w > m\nnode Add b m > n\nnode Relu n > y\nout y",
		"MatMul"},
	{"weights", "in x ? 4 6\nconst w 6 4\nconst b 4 1\nnode MatMul x w > m\nnode Add m b > y\nout y", "MatMul Add"},
	{"weights", "in x ? 4 6\nconst w 1 6 4\nconst b 4\nnode MatMul x w > m\nnode Add m b > y\nout y", "MatMul Add"},
	{"weights",
		"in x ? 6 9 8\nconst b 6 1 1\nnode Mul x b > a\nconst w 8 3 3 3\nconst k 8\n"
		"node Conv a w k > y group:i=2 pads:I=1,1,1,1\nout y",
		"Conv"},
	{"weights",
		"in x ? 6 9 8\nconst b 6 1 1\nnode Sub x b > a\nconst w 8 3 3 3\nnode Conv a w > y group:i=2\nout y",
		"Conv"},
	{"weights",
		"in x ? 6 9 8\nconst b 6 1 1\nnode Sub x b > a\nconst w 8 3 3 3\nnode Conv a w > y group:i=2 "
		"pads:I=0,1,0,0\nout y",
		"Sub Conv"},
	{"weights",
		"in x ? 6 9 8\nconst b 6 1 1\nnode Mul x b > a\nconst w 8 6 3 3\nnode Conv a w > y\nnode Relu a > "
		"z\nout y\nout z",
		"Mul Conv Relu"},
	{"weights",
		"in x ? 6\n"
		"positive s 6\nconst b 6\nconst m 6\npositive v 6\nnode BatchNormalization x s b m v > a\n"
		"const w 4 6\nconst k 4\nnode Gemm a w k > y alpha:f=0.5 beta:f=2 transB:i=1\nout y",
		"Gemm"},
	{"weights", "in x ? 8 9 8\nconst f 8 1 1\nconst g 8 1 1\nnode Mul x f > a\nnode Add g a > y\nout y",
		"BatchNormalization"},
	{"weights",
		"in x ? 8 9 8\n" NORM "node BatchNormalization x s b m v > a\nconst f 8 1 1\nnode Mul a f > y\nout y",
		"BatchNormalization"},
	{"weights",
		"in x ? 8 9 8\nconst f 8 1 1\nnode Mul x f > a\n" NORM
		"node BatchNormalization a s b m v > y epsilon:f=0.1\nout y",
		"BatchNormalization"},
	{"weights",
		"in x ? 8 9 8\nconst f 8 1 1\nnode Mul x f > a\nnode Sub a f > b\nnode Relu b > y\nnode Exp a > z\nout "
		"y\nout z",
		"Mul Sub Relu Exp"},
	{"activations", "in x ? 6\nnode Sigmoid x > s\nnode Mul s x > y\nout y", "Swish"},
	{"activations", "in x ? 6\nfloats a 1.702\nnode Mul x a > b\nnode Sigmoid b > s\nnode Mul x s > y\nout y",
		"Swish"},
	{"activations", "in x ? 6\nnode Sigmoid x > s\nnode Mul s x > y\nout y\nout s", "Sigmoid Mul"},
	{"activations", "in x ? 6\nnode Relu x > r\nnode Sigmoid x > s\nnode Mul s r > y\nout y", "Relu Sigmoid Mul"},
	{"activations", "in x ? 6\nfloats a 0.5\nnode Sigmoid x > s\nnode Mul s x > b\nnode Mul b a > y\nout y",
		"Swish Mul"},
	{"activations", "in x ? 1 6\nconst k 4 1\nnode Mul x k > z\nnode Sigmoid x > s\nnode Mul s z > y\nout y",
		"Mul Sigmoid Mul"},
	{"activations", ERF "node Mul x d > e\nnode Mul e h > y\nout y", "Gelu"},
	{"activations", ERF "node Mul x h > e\nnode Mul d e > y\nout y", "Gelu"},
	{"activations", ERF "node Mul d h > e\nnode Mul x e > y\nout y", "Gelu"},
	{"activations", ERF "node Mul x d > e\nnode Mul e h > y\nout y\nout e", "Div Erf Add Mul Mul"},
	{"activations", ERF "node Mul x d > y\nout y", "Div Erf Add Mul"},
	{"activations",
		"in x ? 6\nfloats q 1.4143\nfloats o 1\nfloats h 0.5\nnode Div x q > b\nnode Erf b > c\nnode Add o c > "
		"d\n"
		"node Mul x d > e\nnode Mul e h > y\nout y",
		"Div Erf Add Mul Mul"},
	{"activations",
		CUBE
		"floats t 3\nnode Mul p k > q\nnode Add x q > r\nnode Mul r s > u\nnode Tanh u > v\nnode Add v o > w\n"
		"node Mul x h > z\nnode Mul z w > y\nout y",
		"Gelu"},
	{"activations",
		CUBE
		"floats t 2\nnode Mul p k > q\nnode Add x q > r\nnode Mul r s > u\nnode Tanh u > v\nnode Add v o > w\n"
		"node Mul x h > z\nnode Mul z w > y\nout y",
		"Pow Mul Add Mul Tanh Add Mul Mul"},
	{"activations", SIX "node Mul x c > m\nnode Div m h > y\nout y", "HardSwish"},
	{"activations", SIX "node Div c h > d\nnode Mul x d > y\nout y", "HardSwish"},
	{"activations", SIX "node Mul x c > y\nout y", "Add Clip Mul"},
	{"activations", "in x ? 6\nnode HardSigmoid x > s alpha:f=0.16666667\nnode Mul s x > y\nout y", "HardSwish"},
	{"activations", "in x ? 6\nnode HardSigmoid x > s\nnode Mul s x > y\nout y", "HardSigmoid Mul"},
	{"layers", CENTRED "node Pow d t > e\n" DEVIATION SCALED, "LayerNormalization"},
	{"layers", CENTRED "node Mul d d > e\n" DEVIATION SCALED, "LayerNormalization"},
	{"layers", CENTRED "node Sub x m > n\nnode Pow n t > e\n" DEVIATION SCALED, "LayerNormalization"},
	{"layers", CENTRED "node Pow d t > e\n" DEVIATION SCALED "\nout d", "ReduceMean Sub LayerNormalization"},
	{"layers", CENTRED "node Pow d t > e\n" DEVIATION SCALED "\nout b",
		"ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add"},
	{"layers",
		CENTRED
		"node Relu x > p\nnode ReduceMean p > o axes:I=-1\nnode Sub p o > n\nnode Pow n t > e\n" DEVIATION
			SCALED,
		"ReduceMean Sub Relu ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add"},
	{"layers",
		CENTRED "node Pow d t > e\nnode ReduceMean e > v axes:I=1,2\nfloats q 0.01\nnode Add v q > s\nnode "
			"Sqrt s > r\n" SCALED,
		"ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add"},
	{"layers", CENTRED "node Pow x t > e\n" DEVIATION SCALED, "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add"},
	{"layers",
		"in x ? 4 6\nnode ReduceMean x > m axes:I=1,2\nnode Sub x m > d\nfloats t 2\nnode Pow d t > "
		"e\n" DEVIATION SCALED,
		"ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add"},
	{"layers",
		"in x ? 4 6\nnode ReduceMean x > m axes:I=1,2\nnode Sub x m > d\nnode Mul d d > e\n"
		"node ReduceMean e > v axes:I=-1,-2\nfloats q 0.01\nnode Add q v > s\nnode Sqrt s > r\nnode Div d r > "
		"z\nconst g 4 6\n"
		"const k 4 6\nnode Mul g z > b\nnode Add k b > y\nout y",
		"LayerNormalization"},
	{"layers",
		CENTRED "node Pow d t > e\n" DEVIATION "node Div d r > z\nconst g 4 1\nnode Mul z g > b\nconst k 6\n"
			"node Add b k > y\nout y",
		"ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add"},
	{"pads", PICTURE "ints p 0 0 1 1 0 0 1 2\nnode Pad x p > a\n" WINDOW "pads:I=1,0,0,0\nout y", "Conv"},
	{"pads", "opset 10\n" PICTURE "node Pad x > a pads:I=0,0,2,1,0,0,0,0\n" WINDOW "strides:I=2,2\nout y", "Conv"},
	{"pads", "opset 10\n" PICTURE "node Pad x > a pads:I=0,0,2,1,0,0,0,0 value:f=1\n" WINDOW "\nout y", "Pad Conv"},
	{"pads", PICTURE "ints p 0 0 1 1 0 0 1 2\nfloats v 0.5\nnode Pad x p v > a\n" WINDOW "\nout y", "Pad Conv"},
	{"pads", PICTURE "ints p 0 1 1 1 0 1 1 2\nnode Pad x p > a\nconst w 8 8 3 3\nnode Conv a w > y\nout y",
		"Pad Conv"},
	{"pads", PICTURE "ints p 0 0 1 1 0 0 1 2\nnode Pad x p > a mode:s=reflect\n" WINDOW "\nout y", "Pad Conv"},
	{"pads", PICTURE "ints p 0 0 1 -1 0 0 1 2\nnode Pad x p > a\n" WINDOW "\nout y", "Pad Conv"},
	{"pads", PICTURE "ints p 0 0 3 1 0 0 1 2\nnode Pad x p > a\n" WINDOW "\nout y",
		"Pad Conv"}, /* a window of zeros */
	{"pads", PICTURE "ints p 0 0 1 1 0 0 1 2\nnode Pad x p > a\n" WINDOW "\nout y\nout a", "Pad Conv"},
	{"pads",
		PICTURE "ints p 0 0 1 1 0 0 1 1\nnode Pad x p > a\nnode AveragePool a > y kernel_shape:I=3,3 "
			"strides:I=3,2 ceil_mode:i=1\n"
			"out y",
		"AveragePool"},
	{"pads",
		PICTURE "ints p 0 0 1 1 0 0 1 1\nnode Pad x p > a\n"
			"node AveragePool a > y kernel_shape:I=3,3 pads:I=1,0,0,1 count_include_pad:i=1\nout y",
		"AveragePool"},
	{"pads",
		PICTURE "ints p 0 0 1 1 0 0 1 1\nnode Pad x p > a\nnode AveragePool a > y kernel_shape:I=3,3 "
			"pads:I=1,0,0,1\nout y",
		"Pad AveragePool"},
	{"pads",
		PICTURE "ints p 0 0 1 1 0 0 1 1\nfloats v -3.5e38\nnode Pad x p v > a\nnode MaxPool a > y "
			"kernel_shape:I=3,3 pads:I=1,1,0,1\n"
			"out y",
		"MaxPool"},
	{"pads", PICTURE "ints p 0 0 1 1 0 0 1 1\nnode Pad x p > a\nnode MaxPool a > y kernel_shape:I=3,3\nout y",
		"Pad MaxPool"},
	{"pads",
		PICTURE "node Neg x > n\nnode Relu n > r\nints p 0 0 1 1 0 0 1 1\nnode Pad r p > a\nnode MaxPool a > y "
			"kernel_shape:I=3,3\n"
			"out y",
		"Neg Relu MaxPool"},
	{"pads",
		PICTURE "ints p 0 0 1 1 0 0 1 1\nfloats v -4e38\nnode Pad x p v > a\nnode MaxPool a > y "
			"kernel_shape:I=2,2 dilations:I=3,3\n"
			"out y",
		"Pad MaxPool"},
	{"flatten", "in x ? 6 3 2\nconst w 36 4\nnode Flatten x > f\nnode Gemm f w > y\nout y", "Gemm"},
	{"flatten",
		"in x ? 6 3 2\nconst w 4 36\nints s 0 -1\nnode Reshape x s > f\nnode Gemm f w > y transB:i=1\nout y",
		"Gemm"},
	{"flatten",
		CONV "const w2 4 576\nnode Flatten c > f\nnode Gemm f w2 > y transB:i=1\nnode Relu f > z\nout y\nout z",
		"Conv Flatten Gemm Relu"},
	{"addend", CONV "const u 6 8 1 1\nnode Conv c u > d\nnode Add x d > y\nout y", "Conv Conv"},
	{"addend", CONV "const u 8 6 1 1\nnode Conv x u > d\nnode Add c d > y\nout y", "Conv Conv"},
	{"addend",
		CONV "node Relu c > r\nconst u 8 8 1 1\nnode Conv r u > d\nnode Add d c > y\nnode Add y c > z\nout z",
		"Conv Relu Conv Add"}, /* c is taken again, so the sum may not be written over it */
	{"addend", "in x ? 6 9 8\nconst w 6 6 1 1\nnode Relu x > r\nnode Conv r w > c\nnode Add c r > y\nout y",
		"Relu Conv"},
	{"addend", CONV "node Add c c > y\nout y", "Conv Add"},
	{"clamp", CONV "node Relu c > y\nout y", "Conv"},
	{"clamp", CONV "floats l 0\nfloats h 0.5\nnode Clip c l h > y\nout y", "Conv"},
	{"clamp", CONV "floats l 0.1\nfloats h 0.3\nnode Relu c > r\nnode Clip r l h > y\nout y", "Conv"},
	{"clamp", CONV "node Relu c > y\nout y\nout c", "Conv Relu"},
	{"clamp", "in x ? 6\nconst w 6 4\nnode MatMul x w > m\nnode Relu m > y\nout y", "Gemm"},
	{"clamp", "in x ? 6\nnode Add x x > m\nnode Relu m > y\nout y", "Add"},
	{"clamp",
		CONV NORM "node BatchNormalization c s b m v > n\nconst u 8 8 3 3\nnode Conv n u > d pads:I=1,1,1,1\n"
			  "node Add d n > a\nnode Relu a > y\nout y",
		"Conv Conv"}, /* a residual block */
	/* what one pass has fused the next ones must not reach through */
	{"clamp", SAME "node Relu c > r\nnode Add r x > y\nout y", "Conv Add"},
	{"clamp", SAME "node Relu c > r\nconst k 8 1 1\nnode Add r k > y\nout y", "Conv Add"},
	{"clamp", SAME NORM "node Relu c > r\nnode BatchNormalization r s b m v > y\nout y", "Conv BatchNormalization"},
	{"clamp", SAME NORM "node Add c x > a\nnode BatchNormalization a s b m v > y\nout y",
		"Conv BatchNormalization"},
	{"clamp", SAME "node Add c x > a\nconst k 8 1 1\nnode Add a k > d\nnode Relu d > y\nout y", "Conv Add"},
	{"clamp", SAME "node Add c x > a\nnode Add a x > y\nout y", "Conv Add"},
};

enum { COUNT = sizeof rewritings / sizeof *rewritings };

/* The outputs of one run, which the caller frees. Inputs are random from the seed. */
static void run(
	const struct dlsi_device *device, const struct dlsi_graph *graph, float *outputs[PORTS], size_t counts[PORTS])
{
	struct dlsi_rng rng;
	struct dls_tensor in = DLS_TENSOR_INIT, out[PORTS] = {DLS_TENSOR_INIT, DLS_TENSOR_INIT};
	size_t count = BATCH * dlsi_value_count(&graph->values[graph->inputs[0]]);
	float *data = malloc(count * sizeof *data);
	struct dls_error err = {0};
	void *set, *program = NULL;

	dlsi_rng_init(&rng, 99);
	for (size_t i = 0; i < count; i++)
		data[i] = unit_random_float(&rng);
	in.data = data;
	for (uint32_t i = 0; i < graph->output_count; i++) {
		counts[i] = BATCH * dlsi_value_count(&graph->values[graph->outputs[i]]);
		out[i].data = outputs[i] = malloc(counts[i] * sizeof *data);
	}
	if (device->ops->set_create(device->state, graph, &set, &err) ||
		device->ops->program_create(set, BATCH, &program, &err) ||
		device->ops->program_run(program, &in, out, NULL, &err))
		fail_msg("%s", err.text);
	device->ops->program_destroy(program);
	device->ops->set_destroy(set);
	free(data);
}

static void assert_equal(const float *a, const float *b, size_t count, const char *model)
{
	float largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = fmaxf(largest, fabsf(b[i]));
	assert_true(largest > 0);
	for (size_t i = 0; i < count; i++)
		if (!(fabsf(a[i] - b[i]) <= 1e-4F * largest))
			fail_msg("element %zu: %g is not %g in %s", i, (double)a[i], (double)b[i], model);
}

static void assert_nodes(const struct dlsi_graph *graph, const struct rewriting *rewriting)
{
	char nodes[256] = "";

	for (uint32_t i = 0; i < graph->node_count; i++) {
		strncat(nodes, graph->nodes[i].op->name, 32);
		strncat(nodes, i + 1 < graph->node_count ? " " : "", 2);
	}
	if (strcmp(nodes, rewriting->nodes) != 0)
		fail_msg("%s leaves '%s', not '%s', of %s", rewriting->name, nodes, rewriting->nodes, rewriting->model);
}

static void load(const struct rewriting *rewriting, struct dlsi_buffer *file_out, struct dlsi_graph **graph_out)
{
	struct dlsi_rng rng = unit_rng(7);
	struct dls_error err = {0};

	unit_onnx(file_out, &rng, rewriting->model);
	if (unit_onnx_load(unit_alloc(), file_out, graph_out, &err))
		fail_msg("%s", err.text);
	if ((*graph_out)->unbatchable)
		fail_msg("%s in %s", (*graph_out)->unbatchable, rewriting->model);
}

/* Rewrites and compares with what the graph gave before. */
static void rewrite(const struct dlsi_device *device, struct dlsi_graph *graph, const struct dlsi_rewrite *rewriting,
	float *before[PORTS], const char *model)
{
	struct dls_error err;
	float *after[PORTS];
	size_t counts[PORTS];

	assert_int_equal(dlsi_graph_rewrite_by(graph, rewriting, &err), 0);
	run(device, graph, after, counts);
	for (uint32_t i = 0; i < graph->output_count; i++) {
		assert_equal(after[i], before[i], counts[i], model);
		free(after[i]);
	}
}

static void test_each_keeps_the_outputs(void **state)
{
	struct dlsi_device *device;
	struct dls_error err;

	(void)state;
	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, &device, &err), 0);
	for (size_t i = 0; i < COUNT; i++) {
		const struct dlsi_rewrite *next = dlsi_rewrites;
		float *before[PORTS] = {NULL};
		size_t counts[PORTS];
		struct dlsi_graph *graph;
		struct dlsi_buffer file;

		load(&rewritings[i], &file, &graph);
		run(device, graph, before, counts);
		do {
			assert_non_null(next->name);
			rewrite(device, graph, next, before, rewritings[i].model);
		} while (strcmp(next++->name, rewritings[i].name) != 0);
		assert_nodes(graph, &rewritings[i]);
		for (int k = 0; k < PORTS; k++)
			free(before[k]);
		dlsi_graph_destroy(graph);
		dlsi_buffer_fini(&file);
	}
	dlsi_device_destroy(device);
}

/* None relies on another one having run. */
static void test_any_order_keeps_the_outputs(void **state)
{
	struct dlsi_device *device;
	struct dls_error err;
	size_t passes = 0;

	(void)state;
	while (dlsi_rewrites[passes].name)
		passes++;
	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, &device, &err), 0);
	for (size_t i = 0; i < COUNT; i++) {
		struct dlsi_rng rng = unit_rng(i + 1);
		float *before[PORTS] = {NULL};
		size_t counts[PORTS];
		struct dlsi_graph *graph;
		struct dlsi_buffer file;

		load(&rewritings[i], &file, &graph);
		run(device, graph, before, counts);
		for (int step = 0; step < 20; step++)
			rewrite(device, graph, &dlsi_rewrites[dlsi_rng_below(&rng, passes)], before,
				rewritings[i].model);
		for (int k = 0; k < PORTS; k++)
			free(before[k]);
		dlsi_graph_destroy(graph);
		dlsi_buffer_fini(&file);
	}
	dlsi_device_destroy(device);
}

static void test_memory_exhaustion_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		struct dlsi_rng rng = unit_rng(1);
		struct dlsi_buffer file;
		struct dls_error err;
		int rc = DLS_ENOMEM;

		unit_onnx(&file, &rng, rewritings[i].model);
		for (unsigned n = 1; rc == DLS_ENOMEM; n++) {
			struct dlsi_graph *graph = NULL;

			rc = unit_onnx_load(unit_alloc_failing_at(n), &file, &graph, &err);
			if (rc == 0)
				rc = dlsi_graph_rewrite(graph, &err);
			dlsi_graph_destroy(graph);
		}
		assert_int_equal(rc, 0);
		dlsi_buffer_fini(&file);
	}
}

UNIT_MAIN(test_each_keeps_the_outputs, test_any_order_keeps_the_outputs, test_memory_exhaustion_is_an_error)
